// SPDX-License-Identifier: Apache-2.0
#pragma once

// `pintle rollout --simulate`: simulates the rollout of a pool under its RolloutPolicy, and prints its steps and its
// end.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/machine_config_pool.h"
#include "base/clock.h"
#include "base/result.h"
#include "ctl/cluster_objects.h"
#include "ctl/command_line.h"
#include "ctl/rollout_situation.h"
#include "json/field_list.h"

namespace pintle::ctl {

inline constexpr Option kSimulateOption = {"--simulate", "",
                                           "print how the rollout would go by the pool's RolloutPolicy"};
inline constexpr Option kNodeTimeOption = {"--node-time", "TIME",
                                           "how long each node takes in the simulation [as long as nodes took so far]"};
inline constexpr Option kBeginOption = {"--begin", "TIME",
                                        "when the simulation begins, such as 2027-03-27T20:00:00Z [now]"};

struct SimulationSettings {
  WallTime begin;
  std::optional<std::chrono::seconds> node_time;  // Unset to take the time that nodes took so far.
};

// Refuses --node-time and --begin without --simulate.
Result<> CheckSimulationOptions(const CommandLine& line);
// Returns the values of --node-time and --begin.
Result<SimulationSettings> ReadSimulationSettings(const CommandLine& line);

// A step of the answer that `-o json` prints.
struct SimulationStep {
  std::string at;
  std::string what;  // The kind of the step, such as "WaveBegins"; pool/simulation.h has all kinds.
  std::optional<std::int32_t> wave;
  std::optional<std::string> wave_name;
  std::optional<std::uint64_t> nodes;
  std::optional<std::string> since;
  std::optional<std::string> until;
  std::optional<std::string> message;

  static constexpr auto kFields = json::FieldList{
      json::Required{"at", &SimulationStep::at},    json::Required{"what", &SimulationStep::what},
      json::Field{"wave", &SimulationStep::wave},   json::Field{"waveName", &SimulationStep::wave_name},
      json::Field{"nodes", &SimulationStep::nodes}, json::Field{"since", &SimulationStep::since},
      json::Field{"until", &SimulationStep::until}, json::Field{"message", &SimulationStep::message},
  };
};

struct SimulationAnswer {
  std::string pool;
  std::optional<std::string> policy;
  std::optional<std::string> target;  // Unset if a config is simulated that the pool does not have yet.
  std::uint64_t nodes = 0;
  std::int64_t node_seconds = 0;
  std::string node_time_from;  // "Option", "Nodes" if it was measured, or "Guess".
  std::string begin;
  std::vector<SimulationStep> steps;
  std::optional<std::string> end;
  std::optional<std::string> obstacle;

  static constexpr auto kFields = json::FieldList{
      json::Required{"pool", &SimulationAnswer::pool},
      json::Field{"policy", &SimulationAnswer::policy},
      json::Field{"target", &SimulationAnswer::target},
      json::Required{"nodes", &SimulationAnswer::nodes},
      json::Required{"nodeSeconds", &SimulationAnswer::node_seconds},
      json::Required{"nodeTimeFrom", &SimulationAnswer::node_time_from},
      json::Required{"begin", &SimulationAnswer::begin},
      json::Required{"steps", &SimulationAnswer::steps},
      json::Field{"end", &SimulationAnswer::end},
      json::Field{"obstacle", &SimulationAnswer::obstacle},
  };
};

struct RolloutSimulation {
  SimulationAnswer answer;
  std::string text;                   // The same answer for people.
  std::vector<std::string> warnings;  // Warnings about the objects.
};

// Simulates the rollout of the pool's config.  If all nodes already have this config, and the pool is not layered, the
// function simulates the rollout of a later config.  If the pool has no policy, only its maxUnavailable limits the
// rollout.
Result<RolloutSimulation> SimulateRollout(const RolloutQuestion& question, const api::MachineConfigPool& pool,
                                          const ClusterObjects& objects, const SimulationSettings& settings);

}  // namespace pintle::ctl
