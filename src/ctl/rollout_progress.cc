// SPDX-License-Identifier: Apache-2.0
#include "ctl/rollout_progress.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <map>
#include <utility>

#include "base/printable.h"
#include "base/time_span.h"
#include "base/time_zone_files.h"
#include "ctl/node_time.h"
#include "ctl/rollout_situation.h"
#include "json/fields.h"
#include "pool/simulation.h"

namespace pintle::ctl {
namespace {

// A memory that has not settled after this many decisions never will: a decision begins at most one wave.
constexpr std::size_t kMostDecisions = 4 * pool::kMostWaves;
// The simulation is ended after this many decisions about one node, so that it takes about a second at the most.
constexpr std::size_t kMostSimulatedNodeDecisions = 2'000'000;

std::optional<std::string> TextOfTime(const std::optional<api::Time>& time) {
  return time ? std::optional(ToRfc3339(time->at)) : std::nullopt;
}

// Returns a result for each gate that asks a server.  Adds the gates that are assumed to be met to `assumed`.
std::map<std::string, pool::GateResult> ResultsOfGates(const CheckedPolicy& policy, std::vector<std::string>& assumed) {
  std::map<std::string, pool::GateResult> results;
  for (const pool::Gate& gate : policy.compiled->gates) {
    if (gate.is_about_nodes()) continue;
    pool::GateResult& result = results[gate.name];
    const api::RolloutMemory& memory = policy.memory();
    const bool is_waiting = memory.blocked.contains(gate.name) || memory.waited.contains(gate.name);
    result.is_met = !is_waiting && !(memory.halt && memory.halt->gate == gate.name);
    result.message = "the controller has reported this, and only the controller can check it again";
    if (result.is_met) assumed.push_back(gate.name);
  }
  return results;
}

void AddWarnings(const CheckedPolicy& policy, const std::vector<std::string>& assumed, pool::RolloutPhase phase,
                 std::vector<std::string>& warnings) {
  using pool::RolloutPhase;
  if (!assumed.empty() && phase != RolloutPhase::kComplete) {
    warnings.push_back(
        fmt::format("it is assumed that these gates of RolloutPolicy {} are met, which only the "
                    "controller can check: {}",
                    policy.source->metadata.name, fmt::join(assumed, ", ")));
  }
  const bool waits_for_window = phase == RolloutPhase::kAwaitingWindow || phase == RolloutPhase::kFrozen;
  if (waits_for_window && policy.compiled->are_windows_for_disruptions_only) {
    warnings.push_back(
        fmt::format("it is assumed that the change drains or reboots nodes; otherwise it needs no window "
                    "of RolloutPolicy {}",
                    policy.source->metadata.name));
  }
}

void AddEnd(const CheckedPolicy& policy, const pool::Situation& situation, WallTime now, RolloutProgress& progress) {
  const NodeTime node_time = NodeTimeOf(std::nullopt, policy.memory());
  progress.node_seconds = node_time.time.count();
  progress.node_time_from = node_time.from;
  const pool::Simulation simulation = pool::Simulate(
      {.situation = situation,
       .policy = *policy.compiled,
       .memory = policy.memory(),
       .begin = now,
       .node_time = node_time.time,
       .most_decisions = kMostSimulatedNodeDecisions / std::max<std::size_t>(situation.nodes.size(), 1)});
  if (simulation.end) {
    progress.earliest_end = ToRfc3339(*simulation.end);
  } else if (simulation.is_cut_off) {
    progress.no_end = "working it out takes longer for so many nodes; `rollout --simulate` does it";
  } else {
    progress.no_end = simulation.obstacle;
  }
}

std::string WaveText(const RolloutProgress& progress) {
  if (progress.wave.value_or(0) == 0) return "no wave has begun";
  const std::string name = progress.wave_name ? fmt::format(" ({})", Printable(*progress.wave_name)) : "";
  return fmt::format("wave {} of {}{}", *progress.wave, progress.waves.value_or(0), name);
}

std::string TimeText(const std::string& time, const DisplayZone& zone) {
  const auto at = FromRfc3339(time);
  return at ? zone.TextOf(*at) : Printable(time);
}

// Returns a duration in words, in its two largest units: "3 days 4 hours", "1 hour 20 minutes", "10 minutes".
std::string RoundedInWords(std::chrono::nanoseconds span) {
  using namespace std::chrono_literals;
  const auto minutes = std::chrono::floor<std::chrono::minutes>(std::max<std::chrono::nanoseconds>(span, 0s));
  const auto hours = std::chrono::floor<std::chrono::hours>(minutes);
  const auto days = std::chrono::floor<std::chrono::days>(hours);
  const auto both = [](std::string large, std::chrono::nanoseconds rest) {
    return rest == 0s ? large : large + " " + InWords(rest);
  };
  if (days >= std::chrono::days(2)) return both(fmt::format("{} days", days.count()), hours - days);
  if (hours >= 1h) return both(InWords(hours), minutes - hours);
  return InWords(minutes >= 1min ? std::chrono::nanoseconds(minutes) : std::chrono::floor<std::chrono::seconds>(span));
}

std::string PhaseLine(const RolloutProgress& progress, const DisplayZone& zone, WallTime now) {
  std::string since;
  if (progress.since) {
    const auto at = FromRfc3339(*progress.since);
    since = fmt::format(" since {}", TimeText(*progress.since, zone));
    if (at && now - *at >= std::chrono::seconds(1)) since += fmt::format(", for {}", RoundedInWords(now - *at));
  }
  const std::string& message = progress.message.value_or("");
  return fmt::format("  {}{}{}{}\n", Printable(progress.phase.value_or("")), since, message.empty() ? "" : ": ",
                     Printable(message));
}

std::string WindowLine(const RolloutProgress& progress, const DisplayZone& zone, WallTime now) {
  if (!progress.opens && !progress.closes) return "";
  const std::string until = progress.closes ? " until " + TimeText(*progress.closes, zone) : "";
  const auto opens = progress.opens ? FromRfc3339(*progress.opens) : FromRfc3339("");
  if (!opens || *opens <= now) return fmt::format("  The window is open{}\n", until);
  return fmt::format("  Next window: {}{}\n", zone.TextOf(*opens), until);
}

std::string EndLine(const RolloutProgress& progress, const DisplayZone& zone, WallTime now) {
  if (progress.earliest_end) {
    const auto end = FromRfc3339(*progress.earliest_end);
    const std::string node_time = InWords(std::chrono::seconds(progress.node_seconds.value_or(0)));
    const std::string_view from = progress.node_time_from == "Nodes" ? "as nodes took so far" : "which is a guess";
    return fmt::format(
        "  Earliest end: {}{}, if each node takes {}, {}\n", TimeText(*progress.earliest_end, zone),
        end ? fmt::format(", in {}", RoundedInWords(std::chrono::ceil<std::chrono::minutes>(*end - now))) : "",
        node_time, from);
  }
  const bool is_known = progress.no_end && progress.no_end != progress.message;
  return is_known ? fmt::format("  The earliest end is not known: {}\n", Printable(*progress.no_end)) : "";
}

}  // namespace

CheckedPolicy CheckedPolicy::Of(const api::RolloutPolicy& source, std::string_view pool) {
  CheckedPolicy checked = {.source = &source,
                           .compiled = std::nullopt,
                           .why_unusable = "",
                           .zone = {},
                           .reported = PoolStatusIn(source, pool)};
  TimeZoneFiles files;
  auto compiled = pool::CompilePolicy(source, [&](const std::string& name) { return files.Find(name); });
  if (!compiled) {
    checked.why_unusable = compiled.error().message();
    return checked;
  }
  checked.compiled = *std::move(compiled);
  if (auto display = DisplayZoneOf(source, files)) checked.zone = *std::move(display);
  return checked;
}

const api::RolloutMemory& CheckedPolicy::memory() const {
  static const api::RolloutMemory kNone;
  return reported == nullptr ? kNone : reported->memory;
}

PolicyDecisionPreview PreviewDecision(const CheckedPolicy& policy, const pool::Situation& situation, WallTime now) {
  PolicyDecisionPreview preview;
  std::vector<std::string> assumed;
  const auto results = ResultsOfGates(policy, assumed);
  api::RolloutMemory memory = policy.memory();
  for (std::size_t decisions = 0; decisions < kMostDecisions; ++decisions) {
    preview.decided = pool::DecideByPolicy(
        situation, {.policy = *policy.compiled, .memory = memory, .now = now, .gate_results = &results});
    if (json::Equal(preview.decided.memory, memory)) break;
    memory = preview.decided.memory;
  }
  preview.status = pool::StatusOf(situation, preview.decided, policy.reported, now);
  AddWarnings(policy, assumed, preview.decided.phase, preview.warnings);
  return preview;
}

RolloutProgress ProgressOf(const CheckedPolicy& policy, const api::RolloutPoolStatus* status,
                           const pool::Situation* situation, WallTime now) {
  RolloutProgress progress;
  progress.policy = policy.source->metadata.name;
  if (!policy.compiled) {
    progress.problem =
        fmt::format("the policy cannot be used, and no node is updated until it is mended: {}", policy.why_unusable);
    return progress;
  }
  if (status == nullptr) {
    progress.problem = "the controller has not reported about this pool yet";
    return progress;
  }
  progress.phase = status->phase;
  if (!status->message.empty()) progress.message = status->message;
  progress.since = TextOfTime(status->since);
  progress.wave = status->wave;
  progress.waves = status->waves;
  const auto& waves = policy.compiled->waves;
  const bool is_known = status->wave >= 1 && static_cast<std::size_t>(status->wave) <= waves.size();
  if (is_known) progress.wave_name = waves[static_cast<std::size_t>(status->wave - 1)].name;
  progress.nodes = status->nodes;
  progress.updated = status->updated;
  progress.opens = TextOfTime(status->opens);
  progress.closes = TextOfTime(status->closes);
  progress.time_zone = policy.zone.name;
  if (progress.phase == "Halted") {
    progress.no_end = status->message;
  } else if (situation != nullptr && !progress.is_complete()) {
    AddEnd(policy, *situation, now, progress);
  }
  return progress;
}

std::string ProgressText(const RolloutProgress& progress, const CheckedPolicy& policy, WallTime now) {
  const std::string by = "by RolloutPolicy " + Printable(progress.policy);
  if (progress.problem) return fmt::format("rollout {}: {}\n", by, Printable(*progress.problem));
  const std::string nodes =
      fmt::format("{} of {} nodes are updated", progress.updated.value_or(0), progress.nodes.value_or(0));
  if (progress.is_complete()) return fmt::format("rollout {}: complete, {}\n", by, nodes);
  std::string text = fmt::format("rollout {}: {}, {}\n", by, WaveText(progress), nodes);
  text += PhaseLine(progress, policy.zone, now);
  text += WindowLine(progress, policy.zone, now);
  return text + EndLine(progress, policy.zone, now);
}

}  // namespace pintle::ctl
