// SPDX-License-Identifier: Apache-2.0
#include "controller/ignition_feed.h"

#include <gmock/gmock.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/base64.h"
#include "event/loop.h"
#include "event/watches.h"
#include "ignition/data_url.h"
#include "support/expect.h"
#include "support/temporary_directory.h"
#include "unit/controller/small_openshift.h"
#include "unit/event/patience.h"

namespace pintle::controller {
namespace {

using testing::HasSubstr;

constexpr const char* kServer = "https://api-int.a.example:6443";

// Runs an IgnitionFeed with a small API server that has a pool with a rendered config.
class IgnitionFeedTest : public testing::Test {
 protected:
  IgnitionFeedTest() {
    ::setenv("no_proxy", "*", 1);
    server_.Put("controllerconfigs", {{"metadata", {{"name", "machine-config-controller"}}},
                                      {"spec", {{"infra", {{"status", {{"apiServerInternalURI", kServer}}}}}}}});
    server_.Put("machineconfigs", {{"metadata", {{"name", "rendered-worker-1"}}},
                                   {"spec", {{"config", {{"ignition", {{"version", "3.4.0"}}}}}}}});
    server_.Put("machineconfigpools",
                {{"metadata", {{"name", "worker"}}}, {"status", {{"configuration", {{"name", "rendered-worker-1"}}}}}});
    folder_.Write("token", "word");
    folder_.Write("ca.crt", NamedCertificate("beside the token"));
  }

  void PutAuthorities(const std::string& bundle) {
    json::Value map = SmallConfigMap("namespace", "kubeconfig-data", {});
    map["binaryData"]["ca-bundle.crt"] = EncodeBase64(bundle);
    server_.Put("configmaps", map);
  }

  // Runs until new workers are served a kubeconfig with these authorities.
  void RunUntilServed(const std::string& authorities) {
    RunUntilServedText(ignition::EncodeDataUrl(ValueOf(serving::KubeconfigText(kServer, authorities, "word"))));
  }
  // Runs until the config of new workers, or the error in its place, has this text.
  void RunUntilServedText(const std::string& wanted) {
    RunUntil([&] { return ServedToWorkers().find(wanted) != std::string::npos; });
  }
  void RunUntil(const std::function<bool()>& is_so) {
    if (!feed_) Begin();
    event::Timer look(
        *loop_,
        [&] {
          if (is_so()) return loop_->Stop();
          look.After(std::chrono::milliseconds(2));
        },
        std::chrono::milliseconds(1));
    look.After(std::chrono::milliseconds(0));
    EXPECT_TRUE(Succeeded(event::RunPatiently(*loop_)));
  }
  void Begin() {
    client_ = ValueOf(kube::Client::Create(*loop_, server_.access()));
    cluster_ = std::make_unique<Cluster>(*client_, "namespace",
                                         Cluster::Listener{.changed =
                                                               [this] {
                                                                 if (feed_ && is_feed_notified_) feed_->Look();
                                                               },
                                                           .node_changed = [](const auto&, const auto&) {},
                                                           .trouble = [](auto, auto&) {}});
    feed_ = std::make_unique<IgnitionFeed>(
        *client_, *cluster_,
        IgnitionFeedSettings{.server = "",
                             .token_secret = token_secret_,
                             .token_directory = folder_.path().string(),
                             .namespace_name = "namespace"},
        IgnitionFeed::Listener{.serve = [this](serving::ServedPools pools) { pools_ = std::move(pools); },
                               .trouble = [this](const Error& error) { troubles_ += error.message() + "\n"; }});
  }
  std::string ServedToWorkers() const {
    const auto pool = pools_.find("worker");
    if (pool == pools_.end()) return "";
    const auto text = pool->second->TextFor(ignition::SpecVersion::k3_5);
    if (!text) return text.error().message();
    return *text ? **text : "";
  }

  SmallApiServer server_;
  TemporaryDirectory folder_;
  kube::ObjectName token_secret_;
  bool is_feed_notified_ = true;  // Whether the feed looks when the cluster has changed, as in the controller.
  std::unique_ptr<event::Loop> loop_ = ValueOf(event::Loop::Create());
  std::optional<kube::Client> client_;
  std::unique_ptr<Cluster> cluster_;
  serving::ServedPools pools_;
  std::string troubles_;
  std::unique_ptr<IgnitionFeed> feed_;
};

TEST_F(IgnitionFeedTest, PrefersTheNewerAuthorities) {
  RunUntilServed(NamedCertificate("beside the token"));
  PutAuthorities(NamedCertificate("newer"));
  RunUntilServed(NamedCertificate("newer"));
  EXPECT_EQ(troubles_, "");
}

TEST_F(IgnitionFeedTest, NewMachinesGetNoImageThatIsInTheRegistryOfTheCluster) {
  server_.Put("machineconfigpools",
              {{"metadata", {{"name", "worker"}}},
               {"spec", {{"configuration", {{"name", "rendered-worker-1"}}}}},
               {"status", {{"configuration", {{"name", "rendered-worker-1"}}}, {"updatedMachineCount", 1}}}});
  server_.Put("machineosbuilds", {{"metadata", {{"name", "build"}}},
                                  {"spec",
                                   {{"machineConfig", {{"name", "rendered-worker-1"}}},
                                    {"machineOSConfig", {{"name", "layered"}}},
                                    {"renderedImagePushSpec", ""}}},
                                  {"status", {{"conditions", {{{"type", "Succeeded"}, {"status", "True"}}}}}}});
  const auto put_image = [&](const std::string& registry) {
    server_.Put("machineosconfigs",
                {{"metadata", {{"name", "layered"}}},
                 {"spec", {{"machineConfigPool", {{"name", "worker"}}}, {"renderedImagePushSpec", ""}}},
                 {"status", {{"currentImagePullSpec", registry + "/layered-os@sha256:1"}}}});
  };
  const auto is_served = [&] { return ServedToWorkers().find("layered-os") != std::string::npos; };
  for (const char* registry :
       {"image-registry.openshift-image-registry.svc:5000", "image-registry.openshift-image-registry.svc.cluster.local",
        "default-route-openshift-image-registry.apps.a.example"}) {
    put_image("registry.example/image-registry.openshift-image-registry.svc");
    RunUntil(is_served);
    put_image(registry);
    RunUntil([&] { return !is_served(); });
  }
}

TEST_F(IgnitionFeedTest, AuthoritiesWithoutACertificateAreReportedAndNotServed) {
  PutAuthorities("garbage");
  RunUntilServed(NamedCertificate("beside the token"));
  EXPECT_THAT(troubles_,
              HasSubstr("ConfigMap kubeconfig-data has a ca-bundle.crt in which no certificate can be read"));
}

TEST_F(IgnitionFeedTest, AuthoritiesBesideTheTokenHaveToBeCertificatesInAFileAndInASecret) {
  folder_.Write("ca.crt", "garbage");
  RunUntilServedText((folder_ / "ca.crt").string() + ": no certificate can be read");
  feed_.reset();
  cluster_.reset();
  pools_.clear();
  token_secret_ = {"namespace", "token"};
  const auto put = [&](const std::string& authorities) {
    json::Value secret = SmallSecret("namespace", "token", "token", "word");
    secret["data"]["ca.crt"] = EncodeBase64(authorities);
    server_.Put("secrets", secret);
  };
  put("garbage");
  RunUntilServedText("the Secret namespace/token: ca.crt: no certificate can be read");
  put(NamedCertificate("in the Secret"));
  RunUntilServed(NamedCertificate("in the Secret"));
}

// The timer that fetches the config again belongs to the pool, and its callback removes the pool.
TEST_F(IgnitionFeedTest, APoolThatIsGoneWhenItsConfigIsFetchedAgainIsNotServed) {
  server_.Remove("machineconfigs", "rendered-worker-1");
  RunUntilServedText("rendered-worker-1");
  is_feed_notified_ = false;
  server_.Remove("machineconfigpools", "worker");
  event::Timer look(
      *loop_,
      [&] {
        if (pools_.empty()) return loop_->Stop();
        look.After(std::chrono::milliseconds(2));
      },
      std::chrono::milliseconds(1));
  look.After(std::chrono::milliseconds(0));
  EXPECT_TRUE(Succeeded(event::RunPatiently(*loop_)));
  EXPECT_TRUE(pools_.empty());
}

}  // namespace
}  // namespace pintle::controller
