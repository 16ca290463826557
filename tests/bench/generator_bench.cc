// SPDX-License-Identifier: Apache-2.0

// Measures a look at the generated configs in which nothing has changed.  The controller takes such a look whenever
// anything in the cluster changes, and most changes are about nodes.

#include <benchmark/benchmark.h>
#include <fmt/core.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>

#include "controller/announcer.h"
#include "controller/cluster.h"
#include "controller/generator.h"
#include "event/loop.h"
#include "support/temporary_directory.h"
#include "unit/controller/manual_clock.h"
#include "unit/controller/small_api_server.h"
#include "unit/event/patience.h"

namespace pintle::controller {
namespace {

constexpr int kPools = 10;
constexpr int kConfigsOfPool = 10;

// A cluster whose generated configs are all written.
class QuietCluster {
 public:
  QuietCluster() {
    ::setenv("no_proxy", "*", 1);
    WriteTemplates();
    server_.Put("controllerconfigs", {{"metadata", {{"name", "machine-config-controller"}, {"generation", 1}}},
                                      {"spec",
                                       {{"baseOSContainerImage", "registry/os@sha256:1"},
                                        {"pullSecret", {{"namespace", "openshift-config"}, {"name", "pull-secret"}}},
                                        {"infra", {{"status", {{"platformStatus", {{"type", "None"}}}}}}}}}});
    server_.Put("secrets", {{"metadata", {{"name", "pull-secret"}, {"namespace", "openshift-config"}}},
                            {"type", "kubernetes.io/dockerconfigjson"},
                            {"data", {{".dockerconfigjson", "e30="}}}});
    for (int pool = 0; pool < kPools; ++pool) AddPool(fmt::format("pool-{}", pool));
    WriteAll();
  }

  void Look() { generator_->Look(view_); }
  std::size_t Writes() { return server_.CountOf("PATCH") + server_.CountOf("POST") + server_.CountOf("DELETE"); }

 private:
  void WriteTemplate(const std::string& path, const std::string& text) {
    const std::filesystem::path file = templates_.path() / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }

  void WriteTemplates() {
    WriteTemplate("common/_base/files/kubelet.yaml",
                  "path: /etc/kubernetes/kubelet.conf\ncontents: {inline: \"kind: KubeletConfiguration\"}\n");
    for (const std::string role : {"master", "worker"}) {
      WriteTemplate(role + "/00-" + role + "/_base/files/role.yaml", "path: /etc/role\ncontents: {inline: x}\n");
    }
  }

  void AddPool(const std::string& pool) {
    server_.Put("machineconfigpools", {{"metadata", {{"name", pool}, {"uid", pool}, {"labels", {{"pool", pool}}}}},
                                       {"spec", {{"nodeSelector", {{"matchLabels", {{"role", pool}}}}}}}});
    // The names of a pool's generated configs end with numbers up to nine; the first name has no number.
    for (int i = 0; i < kConfigsOfPool; ++i) {
      const std::string name = fmt::format("{}-{}", pool, i);
      const std::string number = i == 0 ? "" : std::to_string(i);
      server_.Put("kubeletconfigs",
                  {{"metadata",
                    {{"name", name},
                     {"uid", name},
                     {"generation", 1},
                     {"annotations", {{"machineconfiguration.openshift.io/mc-name-suffix", number}}}}},
                   {"spec",
                    {{"machineConfigPoolSelector", {{"matchLabels", {{"pool", pool}}}}},
                     {"kubeletConfig", {{"maxPods", 100 + i}}}}}});
    }
  }

  bool IsDone(const std::string& pool, int number) {
    const json::Value object = server_.Find("kubeletconfigs", fmt::format("{}-{}", pool, number));
    return object.Find({"status", "observedGeneration"}) != nullptr;
  }

  bool AreAllDone() {
    for (int pool = 0; pool < kPools; ++pool) {
      for (int i = 0; i < kConfigsOfPool; ++i) {
        if (!IsDone(fmt::format("pool-{}", pool), i)) return false;
      }
    }
    return !generator_->is_busy();
  }

  void WriteAll() {
    client_ = ValueOf(kube::Client::Create(*loop_, server_.access()));
    cluster_ = std::make_unique<Cluster>(
        *client_, "namespace",
        Cluster::Listener{
            .changed = [] {}, .node_changed = [](const auto&, const auto&) {}, .trouble = [](auto, auto&) {}});
    events_ = std::make_unique<Announcer>(*client_, clock_, "namespace", "component");
    generator_ = std::make_unique<Generator>(
        *loop_, *client_, clock_, *cluster_, *events_, templates_.path(),
        Versions{.controller = "HASH", .operator_version = ""},
        Generator::Listener{
            .changed = [] {}, .retry_at = [](MonotonicTime) {}, .trouble = [](const std::string&, const Error&) {}});
    std::size_t before = 0;
    event::Timer look(
        *loop_,
        [&] {
          clock_.now += std::chrono::seconds(1);
          if (cluster_->CanRender()) generator_->Look(cluster_->Look());
          // The last answers have arrived when two looks in a row write nothing.
          const std::size_t writes = Writes();
          if (AreAllDone() && writes == before) return loop_->Stop();
          before = writes;
          look.After(std::chrono::milliseconds(20));
        },
        std::chrono::milliseconds(1));
    look.After(std::chrono::milliseconds(0));
    if (!event::RunPatiently(*loop_)) std::abort();
    view_ = cluster_->Look();
    // This look sees the last answers.  So later looks have nothing to write.
    generator_->Look(view_);
  }

  TemporaryDirectory templates_;
  SmallApiServer server_;
  ManualClock clock_;
  std::unique_ptr<event::Loop> loop_ = ValueOf(event::Loop::Create());
  std::optional<kube::Client> client_;
  std::unique_ptr<Cluster> cluster_;
  std::unique_ptr<Announcer> events_;
  std::unique_ptr<Generator> generator_;
  View view_;
};

void LookWithoutAChange(benchmark::State& state) {
  QuietCluster cluster;
  const std::size_t before = cluster.Writes();
  for (auto _ : state) cluster.Look();
  if (cluster.Writes() != before) state.SkipWithError("a look without a change has written something");
}
BENCHMARK(LookWithoutAChange)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace pintle::controller

BENCHMARK_MAIN();
