// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>

#include "api/annotations.h"
#include "base/first_characters.h"
#include "base/printable.h"
#include "json/fields.h"
#include "json/parse.h"
#include "pool/follower.h"

namespace pintle::pool {
namespace {

// The memory has at most this many of the latest resumptions and approvals, and names this many nodes of a resumption.
constexpr std::size_t kMostResumptions = 16;
constexpr std::size_t kMostApprovals = 2 * kMostWaves;
constexpr std::size_t kMostResumedNodes = 50;

// Returns the order in an annotation, or nullopt if there is none or it cannot be read.
std::optional<api::RolloutOrder> ReadOrder(const std::string& text) {
  if (text.empty() || text.size() > kLongestOrder) return std::nullopt;
  auto value = json::Parse(text);
  if (!value) return std::nullopt;
  json::Report report;
  auto order = json::Decode<api::RolloutOrder>(*std::move(value), report);
  if (report.has_errors()) return std::nullopt;
  order.by = FirstCharacters(Printable(order.by), kLongestReason);
  order.reason = FirstCharacters(Printable(order.reason), kLongestReason);
  return order;
}

}  // namespace

std::string Follower::OrderIn(std::string_view annotation) const {
  const std::string& text = situation_.pool.metadata.Annotation(annotation);
  return text.size() > kLongestOrder ? "" : text;
}

void Follower::ReadOverride() {
  const std::string& text = situation_.pool.metadata.Annotation(api::kOverrideAnnotation);
  auto order = ReadOrder(text);
  if (order && order->reason.empty()) order.reset();
  auto& used = memory_.override_used;
  bool may_act = false;
  if (order && text == memory_.override_seen) {
    may_act = used && !used->withdrawn && order->target == situation_.pool.spec.configuration.name;
  } else if (order) {
    // The order is new.  If it is for another rollout, it does not act later, either.
    memory_.override_seen = text;
    may_act = IsForThisRollout(*order);
    if (may_act) {
      used = {
          .target = target_text_, .reason = order->reason, .by = order->by, .at = At(now_), .withdrawn = std::nullopt};
      Warn("RolloutOverridden",
           fmt::format("{} lets {} be rolled out in spite of the policy's windows and freeze, for this reason: {}",
                       order->by, target_text_, order->reason));
    }
  }
  is_overridden_ = may_act;
  if (is_overridden_) return;
  if (used && !used->withdrawn) used->withdrawn = At(now_);
  if (!text.empty()) why_not_overridden_ = WhyNotOverridden(order);
}

std::string Follower::WhyNotOverridden(const std::optional<api::RolloutOrder>& order) const {
  if (!order) {
    return fmt::format("the pool's annotation {} has no effect, because it is not an order; write it by `{}`",
                       api::kOverrideAnnotation, OverrideCommand());
  }
  if (order->target != situation_.pool.spec.configuration.name) {
    return fmt::format("the override was for {}; to override the windows for the present config, run `{}`",
                       Printable(order->target), OverrideCommand());
  }
  return fmt::format("the override was for an earlier rollout; to override the windows for this one, run `{}`",
                     OverrideCommand());
}

std::string Follower::OverrideCommand() const {
  return fmt::format("kubectl pintle override {} --reason=TEXT", situation_.pool.metadata.name);
}

bool Follower::IsForThisRollout(const api::RolloutOrder& order) const {
  if (order.target != situation_.pool.spec.configuration.name) return false;
  return !order.began || order.began == memory_.began;
}

bool Follower::IsApproved(std::string_view wave_digest) const {
  return std::any_of(memory_.approvals.begin(), memory_.approvals.end(),
                     [&](const api::RolloutApproval& approval) { return approval.wave_digest == wave_digest; });
}

void Follower::ReadApproval() {
  const std::string& text = situation_.pool.metadata.Annotation(api::kApproveAnnotation);
  const auto order = ReadOrder(text);
  // An order acts at most once, and only when it is new: it does not approve a later rollout of the same config, such
  // as one after a rollback.
  if (!order || text == memory_.approve_seen) return;
  memory_.approve_seen = text;
  if (!IsForThisRollout(*order) || order->wave_digest.empty() || IsApproved(order->wave_digest)) return;
  for (std::size_t wave = 1; wave < policy_.waves.size(); ++wave) {
    if (DigestOfWave(policy_, wave, target_text_) != order->wave_digest) continue;
    const auto number = static_cast<std::int32_t>(wave + 1);
    memory_.approvals.push_back({.wave = number, .wave_digest = order->wave_digest, .by = order->by, .at = At(now_)});
    KeepLast(memory_.approvals, kMostApprovals);
    Report("RolloutApproved", fmt::format("wave {} ({}) of {} is approved by {}", number, policy_.waves[wave].name,
                                          target_text_, order->by));
    return;
  }
}

bool Follower::MayBegin(const Wave& wave) {
  if (!policy_.needs_approval || memory_.wave_index == 0) return true;
  std::string digest = DigestOfWave(policy_, static_cast<std::size_t>(memory_.wave_index), target_text_);
  if (IsApproved(digest)) return true;
  decided_.wave_digest = std::move(digest);
  SetPhase(RolloutPhase::kAwaitingApproval,
           fmt::format("wave {} of {} ({}) waits for `kubectl pintle approve {}`", memory_.wave_index + 1,
                       decided_.waves, wave.name, situation_.pool.metadata.name));
  return false;
}

void Follower::ReadResumption() {
  const std::string& text = situation_.pool.metadata.Annotation(api::kResumeAnnotation);
  const auto order = ReadOrder(text);
  if (!order || text == memory_.resume_seen) return;
  memory_.resume_seen = text;
  if (!IsForThisRollout(*order) || !memory_.halt) return;
  std::vector<std::string> failed = FailedNodes();
  const std::size_t count = failed.size();
  if (count > kMostResumedNodes) failed.resize(kMostResumedNodes);
  ExcuseFailures();
  const std::string gate = memory_.halt->gate;
  // A halt that an older controller has recorded does not have the name of its gate.
  if (gate.empty() && memory_.halt->reason == kHaltedByGate) {
    timeouts_.ForgetAll();
  } else if (!gate.empty()) {
    AddTo(memory_.passed_gates, gate);
    timeouts_.Forget(gate);
  }
  memory_.resumptions.push_back({.nodes = std::move(failed),
                                 .more_nodes = static_cast<std::int32_t>(count - std::min(count, kMostResumedNodes)),
                                 .gate = gate,
                                 .by = order->by,
                                 .at = At(now_)});
  KeepLast(memory_.resumptions, kMostResumptions);
  Report("RolloutResumed", fmt::format("{} resumes the rollout of {}", order->by, target_text_));
}

}  // namespace pintle::pool
