// SPDX-License-Identifier: Apache-2.0
#include "controller/policy_watch.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "api/annotations.h"
#include "api/conditions.h"
#include "controller/drain_needs.h"
#include "controller/events.h"
#include "controller/replacing_patch.h"
#include "json/fields.h"
#include "pool/status.h"

namespace pintle::controller {
namespace {

constexpr const char* kAccepted = "Accepted";
constexpr const char* kConflict = "Conflict";
constexpr const char* kHalted = "Halted";
// A status in which only counts and messages differ is written no more often than this.
constexpr auto kReportPace = std::chrono::seconds(30);

const api::RolloutPoolStatus* FindPool(const std::vector<api::RolloutPoolStatus>& pools, std::string_view name) {
  const auto found =
      std::find_if(pools.begin(), pools.end(), [&](const api::RolloutPoolStatus& pool) { return pool.name == name; });
  return found == pools.end() ? nullptr : &*found;
}

// Returns whether the change needs neither a drain nor a reboot.  A disruption is assumed if a config is not known.
bool IsUndisruptive(const std::string& from, const std::string& to, const View& view, const WholeConfigs& configs) {
  const auto plan = PlanBetween(from, to, view, configs);
  return plan && plan->IsReconcilable() && !plan->drain.is_needed && !plan->Reboots();
}

void SetCondition(std::vector<api::Condition>& conditions, const char* type, bool is_true, std::string_view reason,
                  std::string_view message, WallTime now) {
  api::Condition condition = api::MakeCondition(type, is_true ? "True" : "False", reason, message);
  condition.last_transition_time = api::Time{std::chrono::floor<std::chrono::seconds>(now)};
  pool::SetCondition(conditions, std::move(condition));
}

// Returns a text that differs when rollouts have advanced.  The text contains no times: a change that the API server
// drops is decided again at another time, and must have the same text then.
std::string ProgressIn(const api::RolloutPolicyStatus& status) {
  std::string progress = fmt::format("{}", status.observed_generation);
  for (const api::RolloutPoolStatus& pool : status.pools) {
    progress += fmt::format("\n{} {} {} {} {} {}", pool.name, pool.phase, pool.updated, pool.memory.target,
                            pool.memory.wave_index, pool.memory.has_begun);
    for (const auto& [node, since] : pool.memory.assigned_at) progress += " " + node;
  }
  return progress;
}

}  // namespace

PolicyWatch::PolicyWatch(event::Loop& loop, kube::Client client, const Clock& clock, Cluster& cluster,
                         Announcer& announcer, net::Peers gate_peers, Listener listener)
    : client_(std::move(client)),
      clock_(clock),
      cluster_(cluster),
      announcer_(announcer),
      listener_(std::move(listener)),
      gates_(loop, clock, gate_peers, [this] { listener_.changed(); }),
      writes_(clock, listener_),
      next_(loop, [this] { listener_.changed(); }) {}

void PolicyWatch::Look(const View& view) {
  std::map<std::string, Checked> checked;
  for (const api::RolloutPolicy* policy : view.rollout_policies) {
    const std::string& name = policy->metadata.name;
    auto known = checked_.extract(name);
    const std::string version = fmt::format("{} {}", policy->metadata.uid, policy->metadata.generation);
    // A policy that could not be compiled is compiled again: perhaps the file of its time zone can be read now.
    if (known && known.mapped().version == version && known.mapped().policy) {
      checked.insert(std::move(known));
      continue;
    }
    auto compiled = pool::CompilePolicy(*policy, [this](const std::string& zone) { return zones_.Find(zone); });
    Checked result{.version = version, .policy = std::nullopt, .why_unusable = ""};
    if (compiled) {
      result.policy = *std::move(compiled);
    } else {
      result.why_unusable = compiled.error().message();
    }
    checked.emplace(name, std::move(result));
  }
  checked_ = std::move(checked);
  choices_.clear();
  for (const api::MachineConfigPool* pool : view.pools) {
    pool::PolicyChoice choice = pool::ChoosePolicy(*pool, view.rollout_policies);
    if (choice.policy != nullptr) choices_.emplace(pool->metadata.name, std::move(choice));
  }
}

std::set<std::string> PolicyWatch::ConfigsToCompare(const View& view, const PoolMembers& members) const {
  std::set<std::string> names;
  for (const auto& [pool_name, choice] : choices_) {
    const auto& policy = checked_.at(choice.policy->metadata.name).policy;
    const api::MachineConfigPool* const pool = view.PoolNamed(pool_name);
    const bool is_needed = policy && policy->are_windows_for_disruptions_only && pool != nullptr;
    if (!is_needed || policy->windows.IsOpenAt(clock_.Wall())) continue;
    const std::string& target = pool->spec.configuration.name;
    for (const pool::NodeState& node : members.Of(pool_name)) {
      if (node.desired_config() == target || node.current_config().empty()) continue;
      names.insert(target);
      names.emplace(node.current_config());
    }
  }
  names.erase("");
  return names;
}

const PoolPolicies& PolicyWatch::ForPass(const View& view, const PoolMembers& members, const WholeConfigs& configs) {
  undisruptive_.clear();
  for_pass_.clear();
  std::map<std::string, gates::GateChecks::Wanted> with_gates;
  for (const auto& [pool_name, choice] : choices_) {
    const Checked& checked = checked_.at(choice.policy->metadata.name);
    const api::MachineConfigPool* const pool = view.PoolNamed(pool_name);
    if (pool == nullptr) continue;
    PoolPolicy& of_pool = for_pass_[pool_name];
    of_pool.before = FindPool(choice.policy->status.pools, pool_name);
    if (!checked.policy) continue;
    of_pool.policy = &*checked.policy;
    const std::string& target = pool->spec.configuration.name;
    const bool is_complete = of_pool.before != nullptr && of_pool.before->phase == "Complete" &&
                             of_pool.before->memory.target.starts_with(target);
    if (!is_complete) {
      gates::GateChecks::Wanted& wanted = with_gates[choice.policy->metadata.name];
      wanted.policy = of_pool.policy;
      const auto well_since = of_pool.before == nullptr ? std::nullopt : of_pool.before->memory.well_since;
      if (well_since) wanted.newer_than = std::max(wanted.newer_than.value_or(well_since->at), well_since->at);
    }
    pool::NodeNames& undisruptive = undisruptive_[pool_name];
    std::map<std::string, bool, std::less<>> known;
    for (const pool::NodeState& node : members.Of(pool_name)) {
      const bool is_needed = of_pool.policy->are_windows_for_disruptions_only && node.desired_config() != target;
      if (!is_needed) continue;
      const std::string current(node.current_config());
      const auto [at, is_new] = known.emplace(current, false);
      if (is_new) at->second = IsUndisruptive(current, target, view, configs);
      if (at->second) undisruptive.insert(node.name());
    }
    of_pool.undisruptive = &undisruptive;
  }
  gates_.Want(with_gates);
  for (auto& [pool_name, of_pool] : for_pass_) {
    of_pool.gate_results = &gates_.ResultsOf(choices_.at(pool_name).policy->metadata.name);
  }
  return for_pass_;
}

api::RolloutPolicyStatus PolicyWatch::StatusFor(const api::RolloutPolicy& policy, const View& view,
                                                const std::vector<PolicyDecision>& decisions) const {
  const WallTime now = clock_.Wall();
  const Checked& checked = checked_.at(policy.metadata.name);
  api::RolloutPolicyStatus status;
  status.observed_generation = policy.metadata.generation;
  status.conditions = policy.status.conditions;
  std::string conflicts;
  std::string halts;
  for (const api::MachineConfigPool* pool : view.pools) {
    const std::string& name = pool->metadata.name;
    const auto choice = choices_.find(name);
    if (choice == choices_.end()) continue;
    const auto& passed_over = choice->second.passed_over;
    if (std::find(passed_over.begin(), passed_over.end(), &policy) != passed_over.end()) {
      conflicts += fmt::format("{}the pool {} has the older policy {}; delete one of the two, or change its pools",
                               conflicts.empty() ? "" : "; ", name, choice->second.policy->metadata.name);
    }
    if (choice->second.policy != &policy) continue;
    const auto decision = std::find_if(decisions.begin(), decisions.end(),
                                       [&](const PolicyDecision& known) { return known.status.name == name; });
    const api::RolloutPoolStatus* const before = FindPool(policy.status.pools, name);
    const api::RolloutPoolStatus* const next = decision != decisions.end() ? &decision->status : before;
    if (next == nullptr) continue;
    status.pools.push_back(*next);
    status.phases += fmt::format("{}{}: {}", status.phases.empty() ? "" : ", ", name, next->phase);
    if (next->memory.halt) {
      halts += fmt::format("{}pool {}: {}", halts.empty() ? "" : "; ", name, next->memory.halt->message);
    }
  }
  if (checked.policy) {
    SetCondition(status.conditions, kAccepted, true, "Valid", "", now);
  } else {
    SetCondition(status.conditions, kAccepted, false, "Invalid",
                 fmt::format("no node of the policy's pools is updated: {}", checked.why_unusable), now);
  }
  SetCondition(status.conditions, kHalted, !halts.empty(), halts.empty() ? "NotHalted" : "Halted", halts, now);
  if (conflicts.empty()) {
    std::erase_if(status.conditions, [](const api::Condition& condition) { return condition.type == kConflict; });
  } else {
    SetCondition(status.conditions, kConflict, true, "OlderPolicy", conflicts, now);
  }
  return status;
}

// A status may wait if the memories and phases of all rollouts stay the same, and the latest write is less than
// kReportPace ago.
bool PolicyWatch::MayWait(const api::RolloutPolicy& policy, const api::RolloutPolicyStatus& status) {
  const auto written = written_.find(policy.metadata.name);
  if (written == written_.end() || written->second + kReportPace <= clock_.Monotonic()) return false;
  const auto& before = policy.status;
  const bool is_same = before.observed_generation == status.observed_generation &&
                       before.pools.size() == status.pools.size() &&
                       json::Equal(before.conditions, status.conditions) &&
                       std::equal(before.pools.begin(), before.pools.end(), status.pools.begin(),
                                  [](const api::RolloutPoolStatus& a, const api::RolloutPoolStatus& b) {
                                    return a.name == b.name && a.phase == b.phase && json::Equal(a.memory, b.memory);
                                  });
  if (is_same) listener_.retry_at(written->second + kReportPace);
  return is_same;
}

void PolicyWatch::Write(const View& view, const std::vector<PolicyDecision>& decisions) {
  std::optional<WallTime> earliest;
  for (const PolicyDecision& decision : decisions) {
    const std::optional<WallTime>& at = decision.decide_again_at;
    if (at) earliest = std::min(earliest.value_or(*at), *at);
  }
  if (earliest) next_.At(*earliest);
  writes_.BeginLook();
  for (const api::RolloutPolicy* policy : view.rollout_policies) {
    api::RolloutPolicyStatus status = StatusFor(*policy, view, decisions);
    if (json::Equal(status, policy->status) || MayWait(*policy, status)) continue;
    WriteStatus(*policy, std::move(status), decisions);
  }
  writes_.EndLook();
}

void PolicyWatch::WriteStatus(const api::RolloutPolicy& policy, api::RolloutPolicyStatus status,
                              const std::vector<PolicyDecision>& decisions) {
  const std::string what = "writing the status of RolloutPolicy " + policy.metadata.name;
  if (!writes_.MayStart(what, ProgressIn(status))) return;
  std::map<std::string, std::vector<pool::RolloutNews>> news;
  for (const PolicyDecision& decision : decisions) {
    if (FindPool(status.pools, decision.status.name) != nullptr) news[decision.status.name] = decision.news;
  }
  ReplacingPatch patch(policy.metadata);
  patch.Set("/status", json::Encode(status));
  const std::string name = policy.metadata.name;
  writes_.Start(what, client_.Once({}).Patch<api::RolloutPolicy>(
                          {"", name}, kube::JsonPatch{std::move(patch).operations()},
                          [this, what, name, news, before = policy](Result<api::RolloutPolicy>&& answer) {
                            if (!answer) return writes_.Ended("", what, &answer.error());
                            const PatchEffect effect = PatchEffectOf(before, answer);
                            written_[name] = clock_.Monotonic();
                            cluster_.StoreAnswer(*std::move(answer));
                            if (effect == PatchEffect::kKept) Announce(news);
                            writes_.Ended("", what, nullptr, effect);
                          },
                          kube::Part::kStatus));
}

void PolicyWatch::Announce(const std::map<std::string, std::vector<pool::RolloutNews>>& news) {
  for (const auto& [name, of_pool] : news) {
    const api::MachineConfigPool* const pool = cluster_.pools().Find(name);
    for (const pool::RolloutNews& event : of_pool) {
      const std::string message = fmt::format("Pool {}: {}", name, event.message);
      if (event.is_warning) {
        log::Warning(message, kNodeRollout, {{"PINTLE_POOL", name}});
      } else {
        log::Notice(message, kNodeRollout, {{"PINTLE_POOL", name}});
      }
      if (pool == nullptr) continue;
      announcer_.Emit(*pool, event.is_warning ? kube::EventKind::kWarning : kube::EventKind::kNormal, event.reason,
                      message);
    }
  }
}

void PolicyWatch::Stop() {
  writes_.Stop();
  gates_.Stop();
  next_.Cancel();
  written_.clear();
}

}  // namespace pintle::controller
