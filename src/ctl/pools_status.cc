// SPDX-License-Identifier: Apache-2.0
#include "ctl/pools_status.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/output.h"
#include "base/printable.h"
#include "ctl/colour.h"
#include "json/fields.h"
#include "json/parse.h"
#include "pool/status.h"

namespace pintle::ctl {
namespace {

using PoolPointers = std::vector<const api::MachineConfigPool*>;

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

json::Value PoolsAnswer(const PoolPointers& pools) {
  json::Value answer = json::Value::array();
  for (const api::MachineConfigPool* pool : pools) {
    answer.push_back({{"name", pool->metadata.name},
                      {"state", StateOf(*pool)},
                      {"paused", pool->spec.paused},
                      {"target", pool->spec.configuration.name},
                      {"status", json::Encode(pool->status)}});
  }
  return {{"pools", std::move(answer)}};
}

Colour ColourOfPools(std::string_view line) {
  if (line.starts_with("  ")) return Colour::kAttention;
  const std::string_view state = line.substr(std::min(line.find(": "), line.size()));
  if (state.starts_with(": degraded")) return Colour::kBad;
  return state.starts_with(": updated") ? Colour::kGood : Colour::kNone;
}

}  // namespace

std::string PoolsText(std::span<const api::MachineConfigPool* const> pools) {
  std::string text;
  for (const api::MachineConfigPool* pool : pools) {
    text += PoolLine(*pool) + "\n";
    for (const api::Condition& condition : pool->status.conditions) {
      if (!GetsOwnLine(condition)) continue;
      text += fmt::format("  {}: {}\n", Printable(condition.type), Printable(condition.message));
    }
  }
  return text.empty() ? "the cluster has no pools\n" : text;
}

ExitStatus PoolsExitStatus(std::span<const api::MachineConfigPool* const> pools) {
  const bool any_needs_attention =
      std::any_of(pools.begin(), pools.end(), [](const auto* pool) { return NeedsAttention(*pool); });
  return any_needs_attention ? ExitStatus::kDiffers : ExitStatus::kFine;
}

Result<ExitStatus> PoolsStatus(const CommandLine& line) {
  const Form form = FormOf(line);
  auto cluster = TRY(LiveCluster::Of(line));
  std::vector<api::MachineConfigPool> pools = TRY(cluster.All<api::MachineConfigPool>());
  const PoolPointers chosen = TRY(SelectPools(pools, line.words()));
  if (form == Form::kText) {
    PrintColoured(PoolsText(chosen), ColourOfPools);
  } else if (form == Form::kName) {
    for (const api::MachineConfigPool* pool : chosen) PrintName(pool->metadata.name);
  } else {
    PrintData(PoolsAnswer(chosen), form);
  }
  return PoolsExitStatus(chosen);
}

}  // namespace pintle::ctl
