// SPDX-License-Identifier: Apache-2.0

// Measures one look of the controller at a whole cluster, which it takes whenever something has changed.  The cluster
// has 20 pools, a MachineConfigNode for each node, and a hundred rendered configs for each pool.

#include <benchmark/benchmark.h>
#include <fmt/core.h>

#include "controller/garbage.h"
#include "support/world.h"

namespace pintle::controller {
namespace {

constexpr int kPools = 20;
constexpr int kConfigs = 100;

World ClusterOf(int nodes) {
  World world;
  for (int pool = 0; pool < kPools; ++pool) {
    const std::string role = fmt::format("role-{}", pool);
    world.AddPool(role, fmt::format("rendered-{}-99", role));
    for (int i = 0; i < kConfigs; ++i) {
      api::MachineConfig& config = world.configs[fmt::format("rendered-{}-{}", role, i)];
      config.metadata.name = fmt::format("rendered-{}-{}", role, i);
      api::OwnerReference& owner = config.metadata.owner_references.emplace_back();
      owner.kind = "MachineConfigPool";
      owner.uid = world.pools[role].metadata.uid;
    }
  }
  for (int i = 0; i < nodes; ++i) {
    const std::string role = fmt::format("role-{}", i % kPools);
    const std::string name = fmt::format("ip-10-0-{}-{}.eu-west-1.compute.internal", i / 256, i % 256);
    api::Node& node = world.AddNode(name, role, fmt::format("rendered-{}-{}", role, i % 3 == 0 ? 99 : 98));
    for (int label = 0; label < 10; ++label) {
      node.metadata.labels.emplace(fmt::format("feature.node.kubernetes.io/cpu-{}", label), "true");
    }
    for (const char* type : {"MemoryPressure", "DiskPressure", "PIDPressure"}) {
      node.status.conditions.push_back({.type = type, .status = "False"});
    }
    api::MachineConfigNode& report = world.reports[name];
    report.metadata.name = name;
    report.spec.node.name = name;
    report.status.conditions.emplace_back().type = "NodeDegraded";
  }
  return world;
}

void LookAtCluster(benchmark::State& state) {
  const World world = ClusterOf(static_cast<int>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(world.Pass());
  state.SetComplexityN(state.range(0));
}
BENCHMARK(LookAtCluster)->Arg(200)->Arg(2'000)->Arg(10'000)->Unit(benchmark::kMillisecond)->Complexity(benchmark::oN);

void LookForGarbage(benchmark::State& state) {
  const World world = ClusterOf(static_cast<int>(state.range(0)));
  const View view = world.Look();
  for (auto _ : state) benchmark::DoNotOptimize(FindGarbage(view, 10));
}
BENCHMARK(LookForGarbage)->Arg(2'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace pintle::controller

BENCHMARK_MAIN();
