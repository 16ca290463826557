// SPDX-License-Identifier: Apache-2.0
#include "ctl/pools_status.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "change/masking.h"
#include "ctl/output.h"
#include "json/parse.h"
#include "pool/status.h"

namespace pintle::ctl {
namespace {

using PoolPointers = std::vector<const api::MachineConfigPool*>;

// What is said of a pool below its line, if it is so.
constexpr std::string_view kTold[] = {"RenderDegraded", "NodeDegraded", "ImageBuildDegraded", "PausedPending"};

std::string_view StateOf(const api::MachineConfigPool& pool) {
  const auto is = [&](std::string_view type) { return pool::IsTrue(pool.status.conditions, type); };
  if (is("Degraded")) return "degraded";
  if (is("Updated")) return "updated";
  if (pool.spec.paused) return "paused";
  return is("Updating") ? "updating" : "unknown";
}

std::string Line(const api::MachineConfigPool& pool) {
  const api::MachineConfigPoolStatus& status = pool.status;
  return change::Printable(fmt::format(
      "{}: {}{}, {} of {} nodes have {}", pool.metadata.name, StateOf(pool),
      pool.spec.paused && StateOf(pool) != "paused" ? ", paused" : "", status.updated_machine_count,
      status.machine_count, pool.spec.configuration.name.empty() ? "no config yet" : pool.spec.configuration.name));
}

bool NeedsAttention(const api::MachineConfigPool& pool) {
  return StateOf(pool) != "updated" || pool::IsTrue(pool.status.conditions, "PausedPending");
}

Result<PoolPointers> Chosen(const std::vector<api::MachineConfigPool>& pools, const std::vector<std::string>& names) {
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

json::Value Answer(const PoolPointers& pools) {
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

}  // namespace

std::string PoolsText(std::span<const api::MachineConfigPool* const> pools) {
  std::string text;
  for (const api::MachineConfigPool* pool : pools) {
    text += Line(*pool) + "\n";
    for (const api::Condition& condition : pool->status.conditions) {
      const bool is_told = std::find(std::begin(kTold), std::end(kTold), condition.type) != std::end(kTold);
      if (!is_told || condition.status != "True") continue;
      text += fmt::format("  {}: {}\n", condition.type, change::Printable(condition.message));
    }
  }
  return text.empty() ? "the cluster has no pools\n" : text;
}

Result<ExitStatus> PoolsStatus(const CommandLine& line) {
  const std::string format = line.Value("-o").value_or("");
  if (!format.empty() && format != "json") {
    return Error(ErrorKind::kInvalid, fmt::format("-o {}: there is only json", format));
  }
  auto cluster = TRY(LiveCluster::Of(line));
  std::vector<api::MachineConfigPool> pools = TRY(cluster.All<api::MachineConfigPool>());
  const PoolPointers chosen = TRY(Chosen(pools, line.words()));
  Print(format == "json" ? json::ToIndentedText(Answer(chosen)) + "\n" : PoolsText(chosen));
  const bool is_all_well =
      std::none_of(chosen.begin(), chosen.end(), [](const auto* pool) { return NeedsAttention(*pool); });
  return is_all_well ? ExitStatus::kFine : ExitStatus::kDiffers;
}

}  // namespace pintle::ctl
