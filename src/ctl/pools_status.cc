// SPDX-License-Identifier: Apache-2.0
#include "ctl/pools_status.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "api/rollout_policy.h"
#include "base/clock.h"
#include "base/output.h"
#include "base/printable.h"
#include "controller/watched.h"
#include "ctl/cluster_objects.h"
#include "ctl/colour.h"
#include "ctl/rollout_progress.h"
#include "ctl/rollout_situation.h"
#include "json/fields.h"
#include "json/parse.h"
#include "pool/status.h"

namespace pintle::ctl {
namespace {

using PoolPointers = std::vector<const api::MachineConfigPool*>;

struct PoolRollout {
  RolloutProgress progress;
  std::string text;  // Empty if the rollout is complete.
};
using Rollouts = std::map<std::string, PoolRollout, std::less<>>;

// The first three conditions decide the state in a pool's line, and the others belong to a normal build of an image.
// Any other condition that is true gets a line of its own, since a person should know of it, whoever set it.
constexpr std::string_view kCoveredConditions[] = {"Updated",      "Updating", "Degraded",
                                                   "BuildPending", "Building", "BuildSuccess"};

bool GetsOwnLine(const api::Condition& condition) {
  return condition.status == "True" && std::find(std::begin(kCoveredConditions), std::end(kCoveredConditions),
                                                 condition.type) == std::end(kCoveredConditions);
}

// Returns the state that is printed for a pool.
std::string_view StateOf(const api::MachineConfigPool& pool) {
  const auto is_true = [&](std::string_view type) { return pool::IsTrue(pool.status.conditions, type); };
  if (is_true("Degraded")) return "degraded";
  if (is_true("Updated")) return "updated";
  if (pool.spec.paused) return "paused";
  return is_true("Updating") ? "updating" : "unknown";
}

std::string PoolLine(const api::MachineConfigPool& pool) {
  const api::MachineConfigPoolStatus& status = pool.status;
  const std::string& target = pool.spec.configuration.name;
  return Printable(fmt::format("{}: {}{}, {}", pool.metadata.name, StateOf(pool),
                               pool.spec.paused && StateOf(pool) != "paused" ? ", paused" : "",
                               target.empty() ? "no config is rendered yet"
                                              : fmt::format("{} of {} nodes have {}", status.updated_machine_count,
                                                            status.machine_count, target)));
}

bool NeedsAttention(const api::MachineConfigPool& pool) {
  const auto& conditions = pool.status.conditions;
  return StateOf(pool) != "updated" || std::any_of(conditions.begin(), conditions.end(), GetsOwnLine);
}

Result<PoolPointers> SelectPools(const std::vector<api::MachineConfigPool>& pools,
                                 const std::vector<std::string>& names) {
  PoolPointers chosen;
  for (const std::string& name : names) {
    const auto found =
        std::find_if(pools.begin(), pools.end(), [&](const auto& pool) { return pool.metadata.name == name; });
    if (found == pools.end()) return Error(ErrorKind::kNotFound, fmt::format("the cluster has no pool \"{}\"", name));
    chosen.push_back(&*found);
  }
  if (!names.empty()) return chosen;
  for (const api::MachineConfigPool& pool : pools) chosen.push_back(&pool);
  return chosen;
}

json::Value PoolsAnswer(const PoolPointers& pools, const Rollouts& rollouts) {
  json::Value answer = json::Value::array();
  for (const api::MachineConfigPool* pool : pools) {
    json::Value& entry = answer.push_back({{"name", pool->metadata.name},
                                           {"state", StateOf(*pool)},
                                           {"paused", pool->spec.paused},
                                           {"target", pool->spec.configuration.name},
                                           {"status", json::Encode(pool->status)}});
    const auto rollout = rollouts.find(pool->metadata.name);
    if (rollout != rollouts.end()) entry["rollout"] = json::Encode(rollout->second.progress);
  }
  return {{"pools", std::move(answer)}};
}

std::string Indented(std::string_view lines) {
  std::string text;
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size() - 1) + 1;
    text += "  ";
    text += lines.substr(0, end);
    lines.remove_prefix(end);
  }
  return text;
}

void WarnAboutPolicies(std::string_view what, const Error& error) {
  PrintToStderr(fmt::format("kubectl pintle: status: {}: {}\n", what, Printable(error.message())));
}

// Reads the objects from which rollouts are simulated, beside the pools.
Result<> ReadForSimulation(LiveCluster& cluster, ClusterObjects& objects) {
  for (const kube::ResourceKind& kind :
       {kube::kResourceKind<api::Node>, kube::kResourceKind<api::MachineOSConfig>,
        kube::kResourceKind<api::MachineOSBuild>, kube::kResourceKind<api::ControllerConfig>}) {
    TRY(cluster.ForEach(kind, {},
                        [&](json::Value object) { return AddDocument(std::move(object), kind.kind, objects); }));
  }
  return {};
}

bool RolloutIsUnderWay(const CheckedPolicy& policy) {
  return policy.compiled && policy.reported != nullptr && policy.reported->phase != "Complete";
}

// Returns the progress of the pools that have a RolloutPolicy.  Somebody who may not read the policies or the nodes
// still gets the rest of the status.
Rollouts ReadRollouts(LiveCluster& cluster, const std::vector<api::MachineConfigPool>& all_pools,
                      const PoolPointers& pools) {
  Rollouts rollouts;
  auto policies = cluster.All<api::RolloutPolicy>();
  if (!policies) {
    WarnAboutPolicies("the RolloutPolicies cannot be read, and are left out", policies.error());
    return rollouts;
  }
  ClusterObjects objects;
  objects.pools = all_pools;
  objects.rollout_policies = *std::move(policies);
  std::vector<std::pair<const api::MachineConfigPool*, CheckedPolicy>> checked;
  for (const api::MachineConfigPool* pool : pools) {
    const api::RolloutPolicy* const policy = PolicyOf(*pool, objects);
    if (policy != nullptr) checked.emplace_back(pool, CheckedPolicy::Of(*policy, pool->metadata.name));
  }
  bool can_simulate = false;
  if (std::any_of(checked.begin(), checked.end(), [](const auto& each) { return RolloutIsUnderWay(each.second); })) {
    const Result<> read = ReadForSimulation(cluster, objects);
    can_simulate = read.has_value();
    if (!read) WarnAboutPolicies("the earliest end of rollouts is left out", read.error());
  }
  const WallTime now = SystemClock().Wall();
  for (const auto& entry : checked) {
    const api::MachineConfigPool& pool = *entry.first;
    const CheckedPolicy& policy = entry.second;
    RolloutProgress progress = ProgressOf(policy, policy.reported, nullptr, now);
    std::vector<std::string> warnings;  // Not printed, since they are about nodes of other pools.
    if (can_simulate && RolloutIsUnderWay(policy)) {
      const Result<> simulated = WithSituation({}, pool, objects, warnings, [&](const pool::Situation& situation) {
        progress = ProgressOf(policy, policy.reported, &situation, now);
      });
      if (!simulated) WarnAboutPolicies("the earliest end of a rollout is left out", simulated.error());
    }
    std::string text = progress.is_complete() ? "" : ProgressText(progress, policy, now);
    rollouts.emplace(pool.metadata.name, PoolRollout{.progress = std::move(progress), .text = std::move(text)});
  }
  return rollouts;
}

// The lines of a rollout are about progress, unless it is halted.
constexpr std::string_view kRolloutLine = "  rollout by RolloutPolicy ";
constexpr std::string_view kHaltedLine = "    Halted";

Colour ColourOfPools(std::string_view line) {
  if (line.starts_with(kHaltedLine)) return Colour::kBad;
  if (line.starts_with(kRolloutLine) || line.starts_with("    ")) return Colour::kNone;
  if (line.starts_with("  ")) return Colour::kAttention;
  const std::string_view state = line.substr(std::min(line.find(": "), line.size()));
  if (state.starts_with(": degraded")) return Colour::kBad;
  return state.starts_with(": updated") ? Colour::kGood : Colour::kNone;
}

}  // namespace

std::string PoolsText(std::span<const api::MachineConfigPool* const> pools, const RolloutTexts& rollouts) {
  std::string text;
  for (const api::MachineConfigPool* pool : pools) {
    text += PoolLine(*pool) + "\n";
    for (const api::Condition& condition : pool->status.conditions) {
      if (!GetsOwnLine(condition)) continue;
      text += fmt::format("  {}: {}\n", Printable(condition.type), Printable(condition.message));
    }
    const auto rollout = rollouts.find(pool->metadata.name);
    if (rollout != rollouts.end()) text += Indented(rollout->second);
  }
  return text.empty() ? "the cluster has no pools\n" : text;
}

ExitStatus PoolsExitStatus(std::span<const api::MachineConfigPool* const> pools) {
  const bool any_needs_attention =
      std::any_of(pools.begin(), pools.end(), [](const auto* pool) { return NeedsAttention(*pool); });
  return any_needs_attention ? ExitStatus::kDiffers : ExitStatus::kSuccess;
}

Result<ExitStatus> PoolsStatus(const CommandLine& line) {
  const Form form = FormOf(line);
  auto cluster = TRY(LiveCluster::Of(line));
  const std::vector<api::MachineConfigPool> pools = TRY(cluster.All<api::MachineConfigPool>());
  const PoolPointers chosen = TRY(SelectPools(pools, line.operands()));
  if (form == Form::kText) {
    RolloutTexts texts;
    for (const auto& [name, rollout] : ReadRollouts(cluster, pools, chosen)) texts.emplace(name, rollout.text);
    PrintColoured(PoolsText(chosen, texts), ColourOfPools);
  } else if (form == Form::kName) {
    for (const api::MachineConfigPool* pool : chosen) PrintName(pool->metadata.name);
  } else {
    PrintData(PoolsAnswer(chosen, ReadRollouts(cluster, pools, chosen)), form);
  }
  return PoolsExitStatus(chosen);
}

}  // namespace pintle::ctl
