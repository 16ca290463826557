// SPDX-License-Identifier: Apache-2.0
#include "ctl/rollout_simulation.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "api/rollout_policy.h"
#include "base/printable.h"
#include "base/time_span.h"
#include "base/time_zone_files.h"
#include "ctl/display_zone.h"
#include "ctl/node_time.h"
#include "pool/simulation.h"
#include "pool/target.h"

namespace pintle::ctl {
namespace {

using Kind = pool::SimulatedStep::Kind;
using std::chrono::seconds;

// A simulation has to begin between these times.  It covers more than a year, in which a WallTime must not overflow.
constexpr WallTime kFirstBegin = std::chrono::sys_days(std::chrono::year(1970) / std::chrono::January / 1);
constexpr WallTime kEndOfBegins = std::chrono::sys_days(std::chrono::year(2201) / std::chrono::January / 1);
// The text has the steps of the rollout's first days, and its end.
constexpr auto kPrintedDays = std::chrono::days(7);
constexpr const char* kLaterConfig = "a later config";

// Compiles a policy.  An error quotes values of the policy.  These are escaped, because a value with line breaks would
// look like lines of this program.
Result<pool::Policy> CompiledPolicy(const api::RolloutPolicy& source, TimeZoneFiles& files) {
  auto compiled = pool::CompilePolicy(source, [&](const std::string& zone) { return files.Find(zone); });
  if (compiled) return compiled;
  return Error(compiled.error().kind(),
               Printable(fmt::format("RolloutPolicy {}, by which no node is updated until it is mended: {}",
                                     source.metadata.name, compiled.error().message())));
}

std::vector<std::string> AssumptionsOf(const pool::Policy& policy) {
  std::vector<std::string> assumptions = {"no node fails"};
  if (policy.needs_approval) assumptions.emplace_back("each approval is given at once");
  if (!policy.gates.empty()) assumptions.emplace_back("all gates are met");
  if (policy.are_windows_for_disruptions_only) assumptions.emplace_back("each change needs a window");
  return assumptions;
}

std::string NameOfWave(const pool::Policy& policy, int wave) {
  return Printable(policy.waves[static_cast<std::size_t>(wave - 1)].name);
}

// Returns a text such as "wave 2 of 4 (canary)".
std::string TextOfWave(const pool::Policy& policy, int wave) {
  return fmt::format("wave {} of {} ({})", wave, policy.waves.size(), NameOfWave(policy, wave));
}

std::string Nodes(std::size_t count) { return fmt::format("{} {}", count, count == 1 ? "node" : "nodes"); }

std::string TextOfStep(const pool::SimulatedStep& step, const pool::Policy& policy, const DisplayZone& zone) {
  const auto until = [&] { return zone.TextOf(step.until.value_or(step.at)); };
  switch (step.kind) {
    case Kind::kWaveBegins:
      return fmt::format("{} begins, with {}", TextOfWave(policy, step.wave), Nodes(step.nodes));
    case Kind::kWindowUsed:
      return fmt::format("the window until {} is used", until());
    case Kind::kWaitsForWindow:
      return fmt::format("{} waits for the window of {}", TextOfWave(policy, step.wave), until());
    case Kind::kSoaks:
      return fmt::format("the nodes of {} are done, and are watched until {}", TextOfWave(policy, step.wave), until());
    case Kind::kNeedsApproval:
      return fmt::format("{} needs an approval", TextOfWave(policy, step.wave));
    case Kind::kWaveDone:
      return fmt::format("{} is done", TextOfWave(policy, step.wave));
    case Kind::kHalted:
      return fmt::format("the rollout halts: {}", Printable(step.message));
    case Kind::kFinished:
      return fmt::format("the rollout has finished, with {}", Nodes(step.nodes));
  }
  return "";
}

SimulationStep StepOf(const pool::SimulatedStep& from, const pool::Policy& policy) {
  const auto time = [](const std::optional<WallTime>& at) { return at ? std::optional(ToRfc3339(*at)) : std::nullopt; };
  SimulationStep step = {.at = ToRfc3339(from.at),
                         .what = pool::NameOf(from.kind),
                         .wave = std::nullopt,
                         .wave_name = std::nullopt,
                         .nodes = std::nullopt,
                         .since = time(from.since),
                         .until = time(from.until),
                         .message = std::nullopt};
  if (from.wave > 0) {
    step.wave = from.wave;
    step.wave_name = policy.waves[static_cast<std::size_t>(from.wave - 1)].name;
  }
  if (from.nodes > 0) step.nodes = from.nodes;
  if (!from.message.empty()) step.message = from.message;
  return step;
}

std::string StepsText(const pool::Simulation& simulation, const pool::Policy& policy, const DisplayZone& zone,
                      WallTime begin) {
  std::string text;
  std::size_t later = 0;
  for (const pool::SimulatedStep& step : simulation.steps) {
    if (step.at > begin + kPrintedDays) {
      ++later;
      continue;
    }
    text += fmt::format("{}  {}\n", zone.TextOf(step.at), TextOfStep(step, policy, zone));
  }
  if (later > 0)
    text += fmt::format("... and {} more step{} after a week, which -o json prints\n", later, later == 1 ? "" : "s");
  return text;
}

std::string EndText(const pool::Simulation& simulation, const DisplayZone& zone, WallTime begin) {
  if (!simulation.end) return fmt::format("The rollout does not end: {}\n", Printable(simulation.obstacle));
  return fmt::format("Earliest end: {}, after {}\n", zone.TextOf(*simulation.end),
                     InWords(std::chrono::ceil<std::chrono::minutes>(*simulation.end - begin)));
}

const api::RolloutMemory& MemoryOf(const api::RolloutPolicy* policy, const std::string& pool) {
  static const api::RolloutMemory kNone;
  const api::RolloutPoolStatus* const status = policy == nullptr ? nullptr : PoolStatusIn(*policy, pool);
  return status == nullptr ? kNone : status->memory;
}

// Returns a policy that holds no node back.
api::RolloutPolicy NoPolicy(const std::string& pool) {
  api::RolloutPolicy policy;
  policy.spec.pool = pool;
  return policy;
}

bool AllNodesHaveTarget(const pool::Situation& situation) {
  const pool::Target target(situation.pool, situation.layering);
  return std::all_of(situation.nodes.begin(), situation.nodes.end(),
                     [&](const pool::NodeState& node) { return target.IsReachedBy(node); });
}

}  // namespace

Result<> CheckSimulationOptions(const CommandLine& line) {
  for (const std::string_view option : {kNodeTimeOption.name, kBeginOption.name}) {
    if (!line.Has(option) || line.Has(kSimulateOption.name)) continue;
    return Error(ErrorKind::kInvalid, fmt::format("{} needs {}", option, kSimulateOption.name));
  }
  return {};
}

Result<SimulationSettings> ReadSimulationSettings(const CommandLine& line) {
  SimulationSettings settings = {.begin = SystemClock().Wall(), .node_time = std::nullopt};
  const auto wrong = [](std::string_view option, const std::string& value, std::string_view rule) {
    return Error(ErrorKind::kInvalid, fmt::format("{} {}: {}", option, value, rule));
  };
  if (const auto begin = line.Value(kBeginOption.name)) {
    settings.begin = TRY(FromRfc3339(*begin), kBeginOption.name);
    const bool is_possible = settings.begin >= kFirstBegin && settings.begin < kEndOfBegins;
    if (!is_possible) return wrong(kBeginOption.name, *begin, "must be in the years from 1970 to 2200");
  }
  if (const auto text = line.Value(kNodeTimeOption.name)) {
    const auto time = TRY(ParseTimeSpan(*text), fmt::format("{} {}", kNodeTimeOption.name, *text));
    if (time < kShortestNodeTime) return wrong(kNodeTimeOption.name, *text, "must be at least 1s");
    settings.node_time = std::chrono::ceil<seconds>(time);
  }
  return settings;
}

Result<RolloutSimulation> SimulateRollout(const RolloutQuestion& question, const api::MachineConfigPool& pool,
                                          const ClusterObjects& objects, const SimulationSettings& settings) {
  const std::string& name = pool.metadata.name;
  const api::RolloutPolicy* const chosen = PolicyOf(pool, objects);
  const api::RolloutPolicy none = NoPolicy(name);
  const api::RolloutPolicy& source = chosen == nullptr ? none : *chosen;
  TimeZoneFiles files;
  const pool::Policy policy = TRY(CompiledPolicy(source, files));
  const DisplayZone zone = TRY(DisplayZoneOf(source, files));
  const api::RolloutMemory& memory = MemoryOf(chosen, name);
  const NodeTime node_time = NodeTimeOf(settings.node_time, memory);

  RolloutSimulation result;
  pool::Simulation simulation;
  std::size_t nodes = 0;
  bool is_over = false;
  const auto simulate = [&](const pool::Situation& situation) {
    nodes = situation.nodes.size();
    is_over = nodes > 0 && !situation.layering.is_layered() && AllNodesHaveTarget(situation);
    // If all nodes have the pool's config already, this call simulates nothing; another call simulates a later config.
    if (is_over && situation.pool.spec.configuration.name == pool.spec.configuration.name) return;
    simulation = pool::Simulate({.situation = situation,
                                 .policy = policy,
                                 .memory = memory,
                                 .begin = settings.begin,
                                 .node_time = node_time.time});
  };
  TRY(WithSituation(question, pool, objects, result.warnings, simulate));
  const bool is_of_later_config = is_over;
  if (is_of_later_config) {
    api::MachineConfigPool later = pool;
    later.spec.configuration.name = kLaterConfig;
    std::vector<std::string> same_warnings;
    TRY(WithSituation(question, later, objects, same_warnings, simulate));
  }

  SimulationAnswer& answer = result.answer;
  answer.pool = name;
  if (chosen != nullptr) answer.policy = chosen->metadata.name;
  if (!is_of_later_config) answer.target = pool.spec.configuration.name;
  answer.nodes = nodes;
  answer.node_seconds = node_time.time.count();
  answer.node_time_from = node_time.from;
  answer.begin = ToRfc3339(settings.begin);
  for (const pool::SimulatedStep& step : simulation.steps) answer.steps.push_back(StepOf(step, policy));
  if (simulation.end) answer.end = ToRfc3339(*simulation.end);
  if (!simulation.end) answer.obstacle = simulation.obstacle;

  result.text =
      fmt::format("Pool {} gets {} by {}: {}\n", Printable(name), Printable(answer.target.value_or(kLaterConfig)),
                  chosen == nullptr ? "its maxUnavailable alone, as it has no RolloutPolicy"
                                    : "RolloutPolicy " + Printable(chosen->metadata.name),
                  Nodes(nodes));
  result.text += fmt::format("Each node takes {}: {}\n", InWords(node_time.time), node_time.reason);
  result.text += fmt::format("Assumed: {}\nTimes of {}\n\n", fmt::join(AssumptionsOf(policy), "; "), zone.name);
  result.text += StepsText(simulation, policy, zone, settings.begin);
  result.text += EndText(simulation, zone, settings.begin);
  return result;
}

}  // namespace pintle::ctl
