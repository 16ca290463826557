// SPDX-License-Identifier: Apache-2.0

// Measures one look of the controller at a whole cluster, which it takes whenever something has changed.  The cluster
// has a MachineConfigNode for each node, and a hundred rendered configs for each pool.

#include <benchmark/benchmark.h>
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>

#include "controller/garbage.h"
#include "pool/rollout_policy.h"
#include "support/world.h"

namespace pintle::controller {
namespace {

constexpr int kPools = 20;
constexpr int kConfigs = 100;

World ClusterOf(int nodes, int pools = kPools) {
  World world;
  for (int pool = 0; pool < pools; ++pool) {
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
    const std::string role = fmt::format("role-{}", i % pools);
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

// A cluster in which each pool has a policy, and no node waits for anything but its wave.
class WavedCluster {
 public:
  WavedCluster(int nodes, int pools) : world_(ClusterOf(nodes, pools)), policy_(ThreeWaves()) {
    for (auto& [name, pool] : world_.pools) {
      pool.spec.max_unavailable = {std::string("20%")};
      world_.policies[name] = {.policy = &policy_, .before = &statuses_[name]};
    }
  }

  // Makes passes and what follows from them, until the second wave is about to update nodes in each pool.
  void GoToSecondWave() {
    while (true) {
      Changes changes = world_.Pass();
      const bool is_there = std::all_of(statuses_.begin(), statuses_.end(),
                                        [](const auto& one) { return one.second.memory.wave_index == 1; });
      if (is_there && !changes.nodes.empty()) return;
      Do(changes);
    }
  }

  const World& world() const { return world_; }

 private:
  static pool::Policy ThreeWaves() {
    api::RolloutPolicy policy;
    policy.spec.pool = "role-0";
    for (const char* nodes : {"1%", "25%", ""}) {
      api::RolloutWave& wave = policy.spec.waves.emplace_back();
      if (*nodes != 0) wave.nodes = {std::string(nodes)};
    }
    auto compiled = pool::CompilePolicy(policy, {});
    if (!compiled) std::abort();
    return *std::move(compiled);
  }

  void Do(Changes& changes) {
    for (PolicyDecision& decision : changes.policies) {
      const std::string name = decision.status.name;
      statuses_[name] = std::move(decision.status);
    }
    world_.Do(changes);
    for (const NodeChange& change : changes.nodes) {
      const std::string desired = world_.AnnotationOf(change.node, api::kDesiredConfigAnnotation);
      world_.Annotate(change.node, api::kCurrentConfigAnnotation, desired);
    }
    ++world_.version;
  }

  World world_;
  pool::Policy policy_;
  std::map<std::string, api::RolloutPoolStatus> statuses_;
};

void LookAtClusterWithPolicies(benchmark::State& state) {
  WavedCluster cluster(static_cast<int>(state.range(0)), static_cast<int>(state.range(1)));
  cluster.GoToSecondWave();
  for (auto _ : state) benchmark::DoNotOptimize(cluster.world().Pass());
  state.SetComplexityN(state.range(0));
}
BENCHMARK(LookAtClusterWithPolicies)
    ->Args({2'000, 20})
    ->Args({5'000, 50})
    ->Args({10'000, 100})
    ->Unit(benchmark::kMillisecond)
    ->Complexity(benchmark::oN);

void LookForGarbage(benchmark::State& state) {
  const World world = ClusterOf(static_cast<int>(state.range(0)));
  const View view = world.Look();
  for (auto _ : state) benchmark::DoNotOptimize(FindGarbage(view, 10));
}
BENCHMARK(LookForGarbage)->Arg(2'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace pintle::controller

BENCHMARK_MAIN();
