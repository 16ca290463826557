// SPDX-License-Identifier: Apache-2.0
#include "drain/evictions.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "base/time_span.h"
#include "drain/which_pods.h"

namespace pintle::drain {
namespace {

// Nobody reads a longer list, and the texts that are left out are similar to the listed ones.
constexpr std::size_t kMostListed = 20;
// The longest interval after failures is this many times the interval after refusals.
constexpr int kLongestEvictionRetry = 8;

std::string OneOrList(const std::vector<std::string>& texts) {
  if (texts.size() == 1) return texts.front();
  std::string list;
  for (std::size_t i = 0; i < std::min(texts.size(), kMostListed); ++i) list += (i == 0 ? "" : ", ") + texts[i];
  if (texts.size() > kMostListed) list += fmt::format(", and {} more", texts.size() - kMostListed);
  return "[" + list + "]";
}

}  // namespace

Evictions::Evictions(event::Loop& loop, kube::Client client, Turns& turns, const std::string& node,
                     const Settings& settings, Listener listener)
    : loop_(loop),
      client_(std::move(client)),
      turns_(turns),
      settings_(settings),
      listener_(std::move(listener)),
      too_late_(loop, [this] { EndTooLate(); }) {
  too_late_.After(settings.attempt);
  pods_ = std::make_unique<kube::Mirror<api::Pod>>(
      client_, kube::Selection{.field_selector = "spec.nodeName=" + node},
      kube::Mirror<api::Pod>::Listener{
          .added = [this](const api::Pod& pod) { OnReadable(pod); },
          .changed = [this](const api::Pod&, const api::Pod& pod) { NoteTermination(pod); },
          .removed = [this](const api::Pod& pod) { OnGone(pod); },
          .synced = [this] { std::exchange(has_begun_, true) ? EndWhenUnreadableAreGone() : Begin(); },
          .trouble = [this](const Error& error) { trouble_ = error.message(); }});
}

void Evictions::Begin() {
  for (const auto& [name, pod] : pods_->objects()) EvictIfItGoes(name, pod);
  for (const auto& [name, pod] : pods_->unreadable()) {
    if (pods_->Find(name) == nullptr) unreadable_.insert(name);
  }
  EndWhenEmpty();
}

void Evictions::EvictIfItGoes(const kube::ObjectName& name, const api::Pod& pod) {
  if (!Goes(pod)) return;
  const kube::Backoff::Settings times = {
      .first = settings_.eviction_retry, .longest = kLongestEvictionRetry * settings_.eviction_retry, .jitter = 0.25};
  const std::string& uid = pod.metadata.uid;
  leaving_.try_emplace(uid, loop_, name, times, [this, uid] { RequestEviction(uid); });
  NoteTermination(pod);
  if (!IsTerminating(pod)) RequestEviction(uid);
}

void Evictions::OnReadable(const api::Pod& pod) {
  const kube::ObjectName name = kube::NameOf(pod.metadata);
  if (unreadable_.erase(name) == 0) return;
  EvictIfItGoes(name, pod);
  EndWhenEmpty();
}

void Evictions::EndWhenUnreadableAreGone() {
  if (unreadable_.empty()) return;
  std::set<kube::ObjectName> left;
  for (const auto& [name, pod] : pods_->unreadable()) {
    if (unreadable_.contains(name)) left.insert(name);
  }
  unreadable_ = std::move(left);
  EndWhenEmpty();
}

// The next two functions call copies of the listener's functions, because a listener may destroy this object, and the
// functions with it.

void Evictions::EndWhenEmpty() {
  if (!leaving_.empty() || !unreadable_.empty()) return;
  const auto gone = listener_.gone;
  gone();
}

void Evictions::EndTooLate() {
  const auto failed = listener_.failed;
  failed(DescribeRemaining());
}

void Evictions::NoteTermination(const api::Pod& pod) {
  const auto found = leaving_.find(pod.metadata.uid);
  if (found == leaving_.end() || !IsTerminating(pod)) return;
  LeavingPod& leaving = found->second;
  leaving.is_terminating = true;
  leaving.retry.Cancel();
  leaving.finalizers.clear();
  for (const std::string& finalizer : pod.metadata.finalizers) {
    leaving.finalizers += (leaving.finalizers.empty() ? "" : ", ") + finalizer;
  }
}

void Evictions::RequestEviction(const std::string& uid) {
  LeavingPod& leaving = leaving_.at(uid);
  leaving.turn = turns_.Take([this, uid] {
    LeavingPod& pod = leaving_.at(uid);
    kube::Client client = client_.Once([&pod](const kube::Failure& failure) { pod.failure = failure; });
    pod.call =
        client.Evict(pod.name, uid, [this, uid](const Result<kube::Eviction>& answer) { OnAnswered(uid, answer); });
  });
}

void Evictions::OnAnswered(const std::string& uid, const Result<kube::Eviction>& answer) {
  LeavingPod& leaving = leaving_.at(uid);
  leaving.turn = {};
  const auto failure = std::exchange(leaving.failure, std::nullopt);
  if (const auto* kept = answer ? std::get_if<kube::KeptByBudget>(&*answer) : nullptr) {
    leaving.why = kept->why;
    leaving.backoff.Reset();
    return leaving.retry.After(settings_.eviction_retry);
  }
  if (answer && std::get<kube::Departure>(*answer) == kube::Departure::kGoing) {
    leaving.why.clear();
    leaving.is_terminating = true;
    return ReportEvicted(leaving);
  }
  // An answer that the pod is gone also leads here: the mirror still has to confirm that.
  leaving.why = failure ? failure->error.message() : "";
  const auto retry_after = failure ? failure->retry_after : std::nullopt;
  leaving.retry.After(std::max(leaving.backoff.Next(), retry_after.value_or(std::chrono::milliseconds(0))));
}

void Evictions::ReportEvicted(LeavingPod& leaving) {
  if (!std::exchange(leaving.is_reported, true)) listener_.evicted(leaving.name);
}

void Evictions::OnGone(const api::Pod& pod) {
  const auto found = leaving_.find(pod.metadata.uid);
  if (found == leaving_.end()) return EndWhenUnreadableAreGone();
  ReportEvicted(found->second);  // The pod may be gone before the answer to its eviction arrives.
  leaving_.erase(found);
  EndWhenEmpty();
}

std::string Evictions::DescribeRemaining() const {
  const std::string timeout = fmt::format("global timeout reached: {}",
                                          GoTimeSpan(std::chrono::floor<std::chrono::seconds>(settings_.attempt)));
  if (!has_begun_) return fmt::format("listing the pods: {}: {}", timeout, trouble_);
  std::vector<std::string> texts;
  for (const auto& [uid, pod] : leaving_) {
    if (pod.is_terminating) {
      texts.push_back(fmt::format("error when waiting for pod \"{}\" in namespace \"{}\" to terminate: {}{}",
                                  pod.name.name, pod.name.namespace_name, timeout,
                                  pod.finalizers.empty() ? "" : " (it has finalizers: " + pod.finalizers + ")"));
    } else {
      texts.push_back(fmt::format("error when evicting pods/\"{}\" -n \"{}\": {}{}{}", pod.name.name,
                                  pod.name.namespace_name, timeout, pod.why.empty() ? "" : ": ", pod.why));
    }
  }
  for (const auto& [name, pod] : pods_->unreadable()) {
    if (!unreadable_.contains(name)) continue;
    texts.push_back(
        fmt::format("error when evicting pods/\"{}\" -n \"{}\": {}: the pod cannot be read: {}; correct it or "
                    "delete it",
                    name.name, name.namespace_name, timeout, pod.why.message()));
  }
  std::sort(texts.begin(), texts.end());
  return OneOrList(texts);
}

}  // namespace pintle::drain
