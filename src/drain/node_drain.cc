// SPDX-License-Identifier: Apache-2.0
#include "drain/node_drain.h"

#include <algorithm>
#include <utility>

#include "drain/node_changes.h"
#include "kube/resource_version.h"

namespace pintle::drain {
namespace {

// These tries bridge a short outage of the server.  If all of them fail, the next ones follow after a longer pause,
// which Advance() decides.
constexpr int kTriesOfAWrite = 3;

}  // namespace

NodeDrain::NodeDrain(event::Loop& loop, kube::Client client, const Clock& clock, Turns& turns, std::string node,
                     Listener listener)
    : loop_(loop),
      client_(
          client.Trying(kTriesOfAWrite, [this](const kube::Failure& failure) { retry_after_ = failure.retry_after; })),
      clock_(clock),
      turns_(turns),
      node_(std::move(node)),
      listener_(std::move(listener)),
      time_is_up_(loop, [this] { Happen(happened::TimeIsUp{}); }) {}

void NodeDrain::See(const api::Node& node, const Settings& settings) {
  settings_ = settings;
  const api::ObjectMeta& metadata = node.metadata;
  if (metadata.uid == latest_uid_ && kube::IsLater(latest_version_, metadata.resource_version)) return;
  Happen(happened::Seen{DrainStateOf(node)});
}

void NodeDrain::SeeLatest(const api::Node& node) {
  latest_uid_ = node.metadata.uid;
  latest_version_ = node.metadata.resource_version;
  Happen(happened::Seen{DrainStateOf(node)});
}

void NodeDrain::Happen(const Event& event) {
  auto transition = Advance(phase_, event, settings_, clock_.Wall());
  if (!transition) return;
  // The server's Retry-After is for the next retry of the failed request only.
  const auto retry_after = std::exchange(retry_after_, std::nullopt);
  Stop();
  phase_ = std::move(transition->next);
  for (const News& news : transition->news) listener_.report(news);
  switch (transition->command) {
    case Command::kNothing:
      return;
    case Command::kCordon:
      return Cordon(*RequestOf(phase_));
    case Command::kEvict:
      return Evict();
    case Command::kAnswer:
      return Answer(*RequestOf(phase_));
    case Command::kUncordon:
      return Uncordon(*RequestOf(phase_));
    case Command::kWait:
      return time_is_up_.After(std::max(transition->wait, retry_after.value_or(Settings::Time(0))));
  }
}

void NodeDrain::Stop() {
  evictions_.reset();
  call_ = {};
  answering_.reset();
  time_is_up_.Cancel();
}

void NodeDrain::Cordon(const Request& request) {
  Amend([this, request](const api::Node& now) { return CordonPatch(now, request, clock_.Wall()); },
        [this](const api::Node& now) { SeeLatest(now); });
}

void NodeDrain::Evict() {
  evictions_ = std::make_unique<Evictions>(
      loop_, client_, turns_, node_, settings_,
      Evictions::Listener{.evicted = listener_.evicted,
                          .gone = [this] { Happen(happened::PodsGone{}); },
                          .failed = [this](const std::string& why) { Happen(happened::AttemptFailed{why}); }});
}

void NodeDrain::Answer(const Request& request) {
  answering_ = std::make_shared<Answering>();
  listener_.when_reported([this, weak = std::weak_ptr(answering_), request] {
    if (weak.expired()) return;
    Amend([request](const api::Node& now) { return AnswerPatch(now, request); },
          [this](const api::Node& now) { SeeLatest(now); });
  });
}

void NodeDrain::Uncordon(const Request& request) {
  Amend([request](const api::Node& now) { return UncordonPatch(now, request); },
        [this, request](const api::Node& now) {
          SeeLatest(now);
          // SeeLatest() may have begun another request.
          if (RequestOf(phase_) == request) Happen(happened::Uncordoned{now.spec.unschedulable});
        });
}

void NodeDrain::Amend(std::function<std::optional<json::Value>(const api::Node& now)> change,
                      std::function<void(const api::Node& now)> then) {
  call_ = client_.Amend<api::Node>({"", node_}, std::move(change),
                                   [this, then = std::move(then)](const Result<api::Node>& now) {
                                     if (!now) return Happen(happened::WriteFailed{now.error().message()});
                                     then(*now);
                                   });
}

}  // namespace pintle::drain
