// SPDX-License-Identifier: Apache-2.0

// Measures a look at the generated configs in which nothing has changed.  The controller takes such a look whenever
// anything in the cluster changes, and most changes are about nodes.

#include <benchmark/benchmark.h>
#include <fmt/core.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>

#include "bench/budgets.h"
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
constexpr int kFeatureGates = 150;
constexpr int kMirrorSets = 50;

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
    PutSettings();
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
    WriteTemplate("common/_base/files/storage.yaml", "path: /etc/containers/storage.conf\ncontents: {inline: ''}\n");
    WriteTemplate("common/_base/files/registries.yaml",
                  "path: /etc/containers/registries.conf\ncontents: {inline: ''}\n");
    WriteTemplate("common/_base/files/policy.yaml",
                  "path: /etc/containers/policy.json\ncontents: {inline: '{\"default\":[{\"type\":\"reject\"}]}'}\n");
    for (const std::string role : {"master", "worker"}) {
      WriteTemplate(role + "/00-" + role + "/_base/files/role.yaml", "path: /etc/role\ncontents: {inline: x}\n");
    }
  }

  // Puts the settings of a cluster of OpenShift that configs are made from.
  void PutSettings() {
    json::Value enabled = json::Value::array();
    for (int i = 0; i < kFeatureGates; ++i) enabled.push_back({{"name", fmt::format("Gate{}", i)}});
    const json::Value gates = {{"version", "4.20"}, {"enabled", std::move(enabled)}};
    server_.Put("featuregates",
                {{"metadata", {{"name", "cluster"}}}, {"status", {{"featureGates", json::Value::array({gates})}}}});
    server_.Put("nodes", {{"metadata", {{"name", "cluster"}}}, {"spec", {{"cgroupMode", "v2"}}}});
    server_.Put("images", {{"metadata", {{"name", "cluster"}, {"uid", "image"}}}, {"spec", json::Value::object()}});
    server_.Put("clusterversions",
                {{"metadata", {{"name", "version"}}},
                 {"status", {{"desired", {{"image", "r.test/release@sha256:" + std::string(64, '0')}}}}}});
    for (int i = 0; i < kMirrorSets; ++i) {
      const json::Value set = {{"source", fmt::format("registry.test/{}", i)},
                               {"mirrors", json::Value::array({fmt::format("mirror.test/{}", i)})}};
      server_.Put("imagedigestmirrorsets", {{"metadata", {{"name", fmt::format("set-{}", i)}}},
                                            {"spec", {{"imageDigestMirrors", json::Value::array({set})}}}});
    }
    // The only one of the cluster's own pools.
    server_.Put(
        "machineconfigpools",
        {{"metadata", {{"name", "worker"}, {"labels", {{"machineconfiguration.openshift.io/mco-built-in", ""}}}}},
         {"spec", {{"nodeSelector", {{"matchLabels", {{"role", "worker"}}}}}}}});
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
  if (cluster.Writes() == before) return;
  fmt::print(stderr, "a look without a change has written something\n");
  std::abort();
}
BENCHMARK(LookWithoutAChange)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace pintle::controller

int main(int argc, char** argv) { return pintle::RunWithLimits(argc, argv, {{"LookWithoutAChange", 1}}); }
