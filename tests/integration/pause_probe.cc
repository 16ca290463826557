// SPDX-License-Identifier: Apache-2.0

// Prints the controller's report of a paused pool, for the test of the alerts.  Standard input has one JSON object with
// "pool", "nodes", "configs", "now" and optionally "hasControllerConfig"; the answer has the pool's conditions and the
// text of /metrics.

#include <fmt/core.h>

#include <iostream>
#include <iterator>
#include <list>

#include "controller/metrics.h"
#include "controller/pause_condition.h"
#include "json/fields.h"
#include "json/parse.h"
#include "machineconfig/ignition_part.h"

namespace pintle::controller {
namespace {

struct ProbeInput {
  api::MachineConfigPool pool;
  std::vector<api::Node> nodes;
  std::vector<api::MachineConfig> configs;
  api::Time now;
  bool has_controller_config = false;

  static constexpr auto kFields = json::FieldList{
      json::Required{"pool", &ProbeInput::pool},
      json::Required{"nodes", &ProbeInput::nodes},
      json::Required{"configs", &ProbeInput::configs},
      json::Required{"now", &ProbeInput::now},
      json::Field{"hasControllerConfig", &ProbeInput::has_controller_config},
  };
};

struct ProbeOutput {
  std::vector<api::Condition> conditions;
  std::string metrics;

  static constexpr auto kFields = json::FieldList{
      json::Required{"conditions", &ProbeOutput::conditions},
      json::Required{"metrics", &ProbeOutput::metrics},
  };
};

Result<ProbeOutput> OutputFor(const ProbeInput& question) {
  std::list<ignition::Config> parsed;
  WholeConfigs whole;
  std::vector<KnownRender> renders;
  for (const api::MachineConfig& config : question.configs) {
    json::Report problems;
    parsed.push_back(TRY(machineconfig::ParseIgnitionPart(config, problems), config.metadata.name));
    whole.emplace(config.metadata.name, machineconfig::ParsedConfig{config, parsed.back()});
    renders.push_back({config.metadata.name, config.metadata.creation_timestamp.value_or(api::Time()).at});
  }
  std::vector<pool::NodeState> nodes;
  PoolMetricValues values;
  for (const api::Node& node : question.nodes) {
    nodes.emplace_back(node);
    values.nodes.push_back(node.metadata.name);
  }
  const PauseReport report = ReportPause({.pool = question.pool,
                                          .nodes = nodes,
                                          .layering = {},
                                          .configs = whole,
                                          .renders = renders,
                                          .policy = {},
                                          .overrides = {},
                                          .now = question.now.at,
                                          .has_controller_config = question.has_controller_config});
  ProbeOutput answer;
  SetPausedPending(report, question.now.at, answer.conditions);
  values.pool = question.pool;
  values.pause = report;
  Metrics metrics;
  metrics.now = question.now.at;
  metrics.leads = true;
  metrics.pools.push_back(std::move(values));
  answer.metrics = MetricsText(metrics);
  return answer;
}

Result<std::string> Run() {
  const std::string input(std::istreambuf_iterator<char>(std::cin), {});
  json::Report problems;
  const ProbeInput question = json::Decode<ProbeInput>(TRY(json::Parse(input)), problems);
  TRY(problems.ToResult());
  return json::ToText(json::Encode(TRY(OutputFor(question))));
}

}  // namespace
}  // namespace pintle::controller

int main() {
  const auto answer = pintle::controller::Run();
  if (!answer) {
    fmt::print(stderr, "pause-probe: {}\n", answer.error().message());
    return 1;
  }
  fmt::print("{}\n", *answer);
}
