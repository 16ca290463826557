// SPDX-License-Identifier: Apache-2.0
#include "controller/notices.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "api/annotations.h"
#include "api/conditions.h"
#include "base/digest.h"
#include "base/first_characters.h"
#include "base/printable.h"
#include "controller/pause_condition.h"
#include "pool/layering.h"
#include "pool/target.h"

namespace pintle::controller {
namespace {

// A notice is remembered for this long after the last look that found it.
constexpr auto kKnownFor = std::chrono::hours(24);
// If more notices than this are remembered, the older half is forgotten.
constexpr std::size_t kMostKnown = 20'000;
constexpr std::size_t kIdDigits = 32;  // Hexadecimal digits of the SHA-256: 128 bits.
// A longer reason of a node is cut off.  Agents cut their reasons off at the same length.
constexpr std::size_t kLongestReasonSent = 2000;       // In characters.
constexpr auto kLastSecond = std::chrono::seconds(1);  // A certificate is valid until the end of its last second.

// Returns an id that is the same for the same parts.  In the text that is hashed, each part is preceded by its length,
// so that different parts never make the same text.
std::string IdOf(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) text += fmt::format("{}:{}\n", part.size(), part);
  return Sha256(text).hex().substr(0, kIdDigits);
}

std::string TextOf(const std::optional<api::Time>& time) { return time ? ToRfc3339(time->at) : ""; }

std::optional<WallTime> At(const std::optional<api::Time>& time) {
  return time ? std::optional(time->at) : std::nullopt;
}

class NoticeFinder {
 public:
  explicit NoticeFinder(const NoticeInputs& inputs) : inputs_(inputs), view_(inputs.view) {}

  std::vector<Notice> Find() && {
    for (const api::MachineConfigPool* pool : view_.pools) {
      // The mirror may have an old state of a pool that cannot be read, so no notice reports it.
      if (view_.unreadable_pools.contains(pool->metadata.name)) continue;
      AddRollout(*pool);
      AddCertificates(*pool);
    }
    for (const api::MachineConfigPool* pool : view_.pools) {
      for (const pool::NodeState& node : inputs_.members.Of(pool->metadata.name)) AddNode(pool->metadata.name, node);
    }
    return std::move(notices_);
  }

 private:
  void Add(std::string id, const char* type, std::string subject, std::optional<WallTime> at, json::Value data) {
    notices_.push_back({.id = std::move(id),
                        .type = type,
                        .subject = std::move(subject),
                        .at = std::move(at),
                        .data = std::move(data)});
  }

  static std::string SubjectOf(const api::MachineConfigPool& pool) {
    return "machineconfigpools/" + pool.metadata.name;
  }

  // ---- rollouts ----

  void AddRollout(const api::MachineConfigPool& pool) {
    const pool::Layering layering = pool::FindLayering(pool, view_.os_configs, view_.os_builds);
    const auto policy = inputs_.policies.find(pool.metadata.name);
    const PoolPolicy* const of_pool = policy == inputs_.policies.end() ? nullptr : &policy->second;
    const Progress progress = ProgressOf(pool, layering);
    if (progress.has_begun) AddBegun(pool, layering);
    if (of_pool != nullptr && of_pool->before != nullptr) AddSteps(pool, *of_pool);
    if (progress.is_over && !IsHeldByPolicy(of_pool, pool, layering)) AddFinished(pool, layering);
  }

  struct Progress {
    bool has_begun = false;
    bool is_over = false;  // All nodes have the target.
  };

  // Returns how far the rollout of the pool's target is.  The pool lacks the annotation kTargetSinceAnnotation if the
  // target is its first one, or if another program has set the target.  Then no rollout is reported.
  Progress ProgressOf(const api::MachineConfigPool& pool, const pool::Layering& layering) const {
    const std::vector<pool::NodeState>& nodes = inputs_.members.Of(pool.metadata.name);
    const bool has_target = !layering.is_layered() || pool::CheckImage(layering).can_apply;
    if (!has_target || nodes.empty() || pool.metadata.Annotation(api::kTargetSinceAnnotation).empty()) return {};
    const pool::Target target(pool, layering);
    bool is_any_assigned = false;
    bool is_over = true;
    for (const pool::NodeState& node : nodes) {
      is_any_assigned = is_any_assigned || target.IsAssignedTo(node);
      is_over = is_over && target.IsReachedBy(node);
    }
    return {.has_begun = is_any_assigned || !pool.spec.paused, .is_over = is_over};
  }

  // Returns whether a wave of the pool's policy is not over yet, although all nodes may have the target.
  static bool IsHeldByPolicy(const PoolPolicy* policy, const api::MachineConfigPool& pool,
                             const pool::Layering& layering) {
    if (policy == nullptr || policy->before == nullptr) return false;
    const api::RolloutMemory& memory = policy->before->memory;
    std::string target = pool.spec.configuration.name;
    if (!layering.image().empty()) target += fmt::format(" {}", layering.image());
    return memory.target == target && memory.wave_index < policy->before->waves;
  }

  static std::string RolloutId(const char* type, const api::MachineConfigPool& pool, const pool::Layering& layering) {
    return IdOf({type, pool.metadata.uid, pool.spec.configuration.name, layering.image(),
                 pool.metadata.Annotation(api::kTargetSinceAnnotation)});
  }

  json::Value RolloutData(const api::MachineConfigPool& pool, const pool::Layering& layering,
                          std::string message) const {
    json::Value data;
    data["message"] = std::move(message);
    data["pool"] = pool.metadata.name;
    data["config"] = pool.spec.configuration.name;
    if (!layering.image().empty()) data["image"] = layering.image();
    data["nodes"] = inputs_.members.Of(pool.metadata.name).size();
    return data;
  }

  void AddBegun(const api::MachineConfigPool& pool, const pool::Layering& layering) {
    const auto since = FromRfc3339(pool.metadata.Annotation(api::kTargetSinceAnnotation));
    Add(RolloutId(kRolloutBegun, pool, layering), kRolloutBegun, SubjectOf(pool),
        since ? std::optional(*since) : std::nullopt,
        RolloutData(
            pool, layering,
            fmt::format("Pool {}: the rollout of {} has begun", pool.metadata.name, pool.spec.configuration.name)));
  }

  void AddFinished(const api::MachineConfigPool& pool, const pool::Layering& layering) {
    Add(RolloutId(kRolloutFinished, pool, layering), kRolloutFinished, SubjectOf(pool), std::nullopt,
        RolloutData(
            pool, layering,
            fmt::format("Pool {}: the rollout of {} has finished", pool.metadata.name, pool.spec.configuration.name)));
  }

  // Adds the notices about ended waves and about a halt, which only a rollout by a RolloutPolicy has.
  void AddSteps(const api::MachineConfigPool& pool, const PoolPolicy& policy) {
    const api::RolloutPoolStatus& status = *policy.before;
    const api::RolloutMemory& memory = status.memory;
    const std::string began = TextOf(memory.began);
    json::Value data;
    data["pool"] = pool.metadata.name;
    data["config"] = memory.target.substr(0, memory.target.find(' '));
    if (policy.policy != nullptr) data["policy"] = policy.policy->name;
    for (const api::RolloutWaveEnd& end : memory.ended) {
      json::Value of_wave = data;
      of_wave["wave"] = end.wave;
      of_wave["waves"] = status.waves;
      of_wave["message"] = fmt::format("Pool {}: wave {} of {} of the rollout of {} is done", pool.metadata.name,
                                       end.wave, status.waves, data.TextAt({"config"}));
      Add(IdOf({kRolloutWaveDone, pool.metadata.uid, memory.target, began, std::to_string(end.wave)}), kRolloutWaveDone,
          SubjectOf(pool), At(end.at), std::move(of_wave));
    }
    if (!memory.halt) return;
    // The message of a halt is left out: if a gate has halted the rollout, the message may contain text from the server
    // that the gate has asked.
    data["cause"] = memory.halt->reason;
    data["message"] = fmt::format(
        "Pool {}: the rollout of {} is halted ({}).  `kubectl pintle rollout {}` prints why; take the config back, or "
        "run `kubectl pintle resume {}`",
        pool.metadata.name, data.TextAt({"config"}), memory.halt->reason, pool.metadata.name, pool.metadata.name);
    Add(IdOf(
            {kRolloutHalted, pool.metadata.uid, memory.target, began, memory.halt->reason, TextOf(memory.halt->since)}),
        kRolloutHalted, SubjectOf(pool), At(memory.halt->since), std::move(data));
  }

  // ---- pauses ----

  void AddCertificates(const api::MachineConfigPool& pool) {
    const PauseReport* const report = inputs_.pause_of(pool.metadata.name);
    if (report == nullptr || !report->waits()) return;
    for (const WaitingBundle& bundle : report->bundles) {
      if (!bundle.valid_until || *bundle.valid_until >= inputs_.now + kCertificateIsUrgent) continue;
      const bool has_expired = inputs_.now >= *bundle.valid_until + kLastSecond;
      const char* const type = has_expired ? kCertificateExpired : kCertificateExpiring;
      const std::string until = ToRfc3339(*bundle.valid_until);
      const std::string path = Printable(bundle.path);
      json::Value data;
      data["pool"] = pool.metadata.name;
      data["path"] = path;
      data["validUntil"] = until;
      data["message"] =
          fmt::format("Pool {}: the pause keeps new certificates from the nodes; those in {} {} {}.  Unpause the pool",
                      pool.metadata.name, path, has_expired ? "were valid until" : "are valid until", until);
      Add(IdOf({type, pool.metadata.uid, bundle.path, until}), type, SubjectOf(pool), std::nullopt, std::move(data));
    }
  }

  // ---- nodes ----

  void AddNode(const std::string& pool, const pool::NodeState& node) {
    if (!node.is_degraded()) return;
    const api::ObjectMeta& metadata = node.node().metadata;
    const bool is_rejected = metadata.Annotation(api::kStateAnnotation) == api::kStateUnreconcilable;
    const api::Condition* const condition = ConditionOf(node.name());
    // The agent writes this condition and the annotations at different times.  The notice waits for both, because the
    // time of the condition tells this fault from an earlier one.
    if (condition != nullptr && condition->status != "True") return;
    const auto since = condition == nullptr ? std::nullopt : condition->last_transition_time;
    const char* const type = is_rejected ? kNodeRejected : kNodeDegraded;
    const std::string reason = FirstCharacters(PrintableLines(node.reason()), kLongestReasonSent);
    json::Value data;
    data["node"] = node.name();
    data["pool"] = pool;
    data["config"] = node.desired_config();
    data["reason"] = reason;
    data["message"] = is_rejected ? fmt::format("Node {} cannot be changed to {}", node.name(), node.desired_config())
                                  : fmt::format("Node {} is degraded", node.name());
    // A node that lacks the condition has no time of its fault, so the reason tells one fault from another.
    Add(IdOf({type, metadata.uid, node.desired_config(), since ? TextOf(since) : reason}), type, "nodes/" + node.name(),
        At(since), std::move(data));
  }

  // Returns the condition NodeDegraded of a node's MachineConfigNode, or nullptr if there is none.
  const api::Condition* ConditionOf(const std::string& node) const {
    const api::MachineConfigNode* const found = view_.MachineConfigNodeNamed(node);
    return found == nullptr ? nullptr : api::FindCondition(found->status.conditions, "NodeDegraded");
  }

  const NoticeInputs& inputs_;
  const View& view_;
  std::vector<Notice> notices_;
};

// Forgets the older half of the notices, except for those that are present now.
void ForgetOlderHalf(KnownNotices& known, MonotonicTime now) {
  std::vector<MonotonicTime> times;
  times.reserve(known.size());
  for (const auto& [id, at] : known) times.push_back(at);
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  std::erase_if(known, [&](const auto& notice) { return notice.second <= *middle && notice.second != now; });
}

}  // namespace

std::vector<Notice> NoticesOf(const NoticeInputs& inputs) { return NoticeFinder(inputs).Find(); }

std::vector<Notice> NewNotices(KnownNotices& known, std::vector<Notice> present, MonotonicTime now) {
  std::erase_if(present, [&](const Notice& notice) { return !known.insert_or_assign(notice.id, now).second; });
  std::erase_if(known, [&](const auto& notice) { return notice.second + kKnownFor < now; });
  if (known.size() > kMostKnown) ForgetOlderHalf(known, now);
  return present;
}

}  // namespace pintle::controller
