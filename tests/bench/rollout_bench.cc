// SPDX-License-Identifier: Apache-2.0

// Measures one look at a pool in three zones, with a MachineConfigNode for each node.  One tenth of the nodes is being
// updated, three tenths are updated, and the others wait.  Half of the nodes may be unavailable.

#include <benchmark/benchmark.h>
#include <fmt/core.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "api/annotations.h"
#include "pool/rollout.h"

namespace pintle::pool {
namespace {

// Gives the node as many labels and annotations as a real one has.
api::Node NodeOf(int index) {
  api::Node node;
  node.metadata.name = fmt::format("ip-10-0-{}-{}.eu-west-1.compute.internal", index / 256, index % 256);
  for (int i = 0; i < 10; ++i) {
    node.metadata.labels.emplace(fmt::format("feature.node.kubernetes.io/cpu-{}", i), "true");
    node.metadata.annotations.emplace(fmt::format("k8s.ovn.org/node-{}", i), "{\"default\":[\"10.128.0.0/23\"]}");
  }
  node.metadata.labels.emplace(api::kWorkerRoleLabel, "");
  node.metadata.labels.emplace(api::kZoneLabel, fmt::format("eu-west-1{}", static_cast<char>('a' + index % 3)));
  node.metadata.creation_timestamp = api::Time{WallTime(std::chrono::seconds(index * 7919 % 100003))};
  const bool is_updated = index % 10 > 6;
  const bool is_at_work = index % 10 == 0;
  auto& annotations = node.metadata.annotations;
  annotations.emplace(api::kCurrentConfigAnnotation, is_updated ? "rendered-worker-new" : "rendered-worker-old");
  annotations.emplace(api::kDesiredConfigAnnotation,
                      is_updated || is_at_work ? "rendered-worker-new" : "rendered-worker-old");
  annotations.emplace(api::kStateAnnotation, is_at_work ? api::kStateWorking : api::kStateDone);
  annotations.emplace(api::kReasonAnnotation, "");
  annotations.emplace(api::kDesiredDrainAnnotation, "uncordon-rendered-worker-old");
  annotations.emplace(api::kLastAppliedDrainAnnotation, "uncordon-rendered-worker-old");
  for (const char* type : {"MemoryPressure", "DiskPressure", "PIDPressure"}) {
    node.status.conditions.push_back({.type = type, .status = "False"});
  }
  node.status.conditions.push_back({.type = "Ready", .status = "True"});
  return node;
}

api::MachineConfigNode ReportOf(const api::Node& node) {
  api::MachineConfigNode report;
  report.metadata.name = node.metadata.name;
  for (const char* type : {"UpdatePrepared", "UpdateExecuted", "UpdatePostActionComplete", "UpdateComplete", "Updated",
                           "Resumed", "Drained", "AppliedFilesAndOS", "Cordoned", "Uncordoned", "RebootedNode",
                           "NodeDegraded", "PinnedImageSetsProgressing", "PinnedImageSetsDegraded"}) {
    report.status.conditions.push_back(
        {.type = type, .status = "False", .last_transition_time = {}, .reason = "AsExpected", .message = ""});
  }
  report.status.config_version = {.current = "rendered-worker-old", .desired = "rendered-worker-new"};
  return report;
}

template <typename T>
std::vector<const T*> Pointers(const std::vector<T>& objects) {
  std::vector<const T*> pointers;
  for (const T& object : objects) pointers.push_back(&object);
  return pointers;
}

std::vector<api::Node> Nodes(std::int64_t count) {
  std::vector<api::Node> nodes;
  for (int i = 0; i < count; ++i) nodes.push_back(NodeOf(i));
  return nodes;
}

std::vector<NodeState> States(const std::vector<api::Node>& nodes) {
  std::vector<NodeState> states;
  states.reserve(nodes.size());
  for (const api::Node& node : nodes) states.emplace_back(node);
  return states;
}

void LookAtPool(benchmark::State& state) {
  api::MachineConfigPool pool;
  pool.metadata.name = "worker";
  pool.spec.configuration.name = "rendered-worker-new";
  pool.spec.max_unavailable = {std::string("50%")};
  const auto nodes = Nodes(state.range(0));
  std::vector<api::MachineConfigNode> reports;
  for (const api::Node& node : nodes) reports.push_back(ReportOf(node));
  const auto states = States(nodes);
  const auto report_pointers = Pointers(reports);
  const Situation situation = {.pool = pool,
                               .nodes = states,
                               .machine_config_nodes = report_pointers,
                               .layering = {},
                               .features = {},
                               .cert_expirys = {},
                               .operator_node = "",
                               .configs = {},
                               .all_pools = {},
                               .os_image_streams = {},
                               .unavailable_arbiters = 0,
                               .masters = {},
                               .now = {}};
  for (auto _ : state) benchmark::DoNotOptimize(Decide(situation));
  state.SetComplexityN(state.range(0));
}
BENCHMARK(LookAtPool)->Arg(100)->Arg(1'000)->Arg(10'000)->Unit(benchmark::kMillisecond)->Complexity(benchmark::oN);

// Does for all nodes the work that the controller does once for each node that has changed.
void ReadNodes(benchmark::State& state) {
  const auto nodes = Nodes(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(States(nodes));
  state.SetComplexityN(state.range(0));
}
BENCHMARK(ReadNodes)->Arg(100)->Arg(1'000)->Arg(10'000)->Unit(benchmark::kMillisecond)->Complexity(benchmark::oN);

}  // namespace
}  // namespace pintle::pool

BENCHMARK_MAIN();
