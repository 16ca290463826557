// SPDX-License-Identifier: Apache-2.0
#include "controller/operator_upkeep.h"

#include <gmock/gmock.h>

#include <fstream>
#include <memory>

#include "base/base64.h"
#include "clusterops/user_data.h"
#include "event/loop.h"
#include "event/watches.h"
#include "json/parse.h"
#include "serving/access.h"
#include "support/temporary_directory.h"
#include "unit/controller/manual_clock.h"
#include "unit/controller/small_openshift.h"
#include "unit/event/patience.h"

namespace pintle::controller {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kName = "machine-config-controller";

// Runs an OperatorUpkeep with a small API server that has an OpenShift cluster.
class OperatorUpkeepTest : public testing::Test {
 protected:
  OperatorUpkeepTest() {
    ::setenv("no_proxy", "*", 1);
    PutSmallOpenShift(server_);
  }

  // Looks all the time, as the controller does, until the cluster is as wanted.
  void RunUntil(const std::function<bool()>& is_so) {
    if (!upkeep_) Begin();
    event::Timer look(
        *loop_,
        [&] {
          clock_.now += between_looks_;
          upkeep_->Look(view_, is_installing_);
          if (is_so()) return loop_->Stop();
          look.After(std::chrono::milliseconds(2));
        },
        std::chrono::milliseconds(1));
    look.After(std::chrono::milliseconds(0));
    EXPECT_TRUE(Succeeded(event::RunPatiently(*loop_)));
  }
  void RunFor(std::chrono::seconds time) {
    if (!upkeep_) Begin();
    const MonotonicTime end = clock_.now + time;
    RunUntil([&] { return clock_.now > end; });
  }
  void Begin(const std::string& token_keys_file = "") {
    client_ = ValueOf(kube::Client::Create(*loop_, server_.access()));
    upkeep_ = std::make_unique<OperatorUpkeep>(
        *client_, clock_, OperatorUpkeepSettings{.namespace_name = "namespace", .token_keys_file = token_keys_file},
        OperatorUpkeep::Listener{
            .changed = [] {}, .retry_at = [](MonotonicTime) {}, .trouble = [](const auto&, const auto&) {}});
  }

  json::Value Spec() { return std::as_const(kept_ = server_.Find("controllerconfigs", kName))["spec"]; }
  std::string FailureOf(const std::string& task) {
    const auto failures = upkeep_->Failures();
    const auto found = failures.find(task);
    return found == failures.end() ? "" : found->second;
  }
  std::size_t Writes() { return server_.CountOf("PATCH ") + server_.CountOf("POST "); }

  SmallApiServer server_;
  ManualClock clock_;
  std::chrono::milliseconds between_looks_ = std::chrono::seconds(1);
  View view_;
  bool is_installing_ = false;
  json::Value kept_;
  std::unique_ptr<event::Loop> loop_ = ValueOf(event::Loop::Create());
  std::optional<kube::Client> client_;
  std::unique_ptr<OperatorUpkeep> upkeep_;
};

TEST_F(OperatorUpkeepTest, CreatesTheControllerConfig) {
  RunUntil([&] { return !Spec().is_null(); });
  EXPECT_EQ(Spec().TextAt({"platform"}), "aws");
  EXPECT_EQ(Spec().TextAt({"baseOSContainerImage"}), "registry/os@sha256:1");
  EXPECT_THAT(upkeep_->Failures(), IsEmpty());
}

TEST_F(OperatorUpkeepTest, WritesTheSameOnce) {
  RunUntil([&] { return !Spec().is_null(); });
  RunFor(std::chrono::seconds(20));
  const std::size_t before = Writes();
  RunFor(std::chrono::seconds(60));
  EXPECT_EQ(Writes(), before);
}

TEST_F(OperatorUpkeepTest, FollowsARenewedAuthority) {
  RunUntil([&] { return !Spec().is_null(); });
  server_.Put("configmaps",
              SmallConfigMap("openshift-config-managed", "kube-apiserver-client-ca", {{"ca-bundle.crt", "renewed"}}));
  RunUntil([&] { return Spec().TextAt({"kubeAPIServerServingCAData"}) == "cmVuZXdlZA=="; });
}

TEST_F(OperatorUpkeepTest, KeepsTheLastGoodValueOfAMissingInputAndReportsIt) {
  RunUntil([&] { return !Spec().is_null(); });
  server_.Remove("configmaps", "kube-apiserver-client-ca");
  RunUntil([&] { return FailureOf("RenderConfig") != ""; });
  EXPECT_THAT(FailureOf("RenderConfig"), HasSubstr("kube-apiserver-client-ca has no ca-bundle.crt"));
  // The others are still followed.
  server_.Put("dnses", SmallSetting(R"({"baseDomain": "b.example"})", "{}"));
  RunUntil([&] { return Spec().TextAt({"dns", "spec", "baseDomain"}) == "b.example"; });
  EXPECT_EQ(Spec().TextAt({"kubeAPIServerServingCAData"}), "dGhlIGNsaWVudHM=");
  server_.Put("configmaps", SmallConfigMap("openshift-config-managed", "kube-apiserver-client-ca",
                                           {{"ca-bundle.crt", "the clients"}}));
  RunUntil([&] { return FailureOf("RenderConfig") == ""; });
}

TEST_F(OperatorUpkeepTest, FollowsTheConfigMapThatASettingNames) {
  RunUntil([&] { return !Spec().is_null(); });
  server_.Put("images", SmallSetting(R"({"additionalTrustedCA": {"name": "mine"}})", "{}"));
  server_.Put("configmaps", SmallConfigMap("openshift-config", "mine", {{"registry..5000", "an authority"}}));
  RunUntil([&] { return std::as_const(kept_ = Spec())["imageRegistryBundleUserData"].size() == 1; });
}

TEST_F(OperatorUpkeepTest, WritesNothingWhileAnInputCannotBeRead) {
  RunUntil([&] { return !Spec().is_null(); });
  upkeep_.reset();
  server_.Put("dnses", SmallSetting(R"({"baseDomain": "b.example"})", "{}"));
  server_.Refuse([](const kube::ReceivedRequest& request) -> std::optional<kube::Answer> {
    if (request.line.find("user-ca-bundle") == std::string::npos) return std::nullopt;
    return SmallApiServer::Status(403, "Forbidden", "you must not");
  });
  RunUntil([&] { return FailureOf("RenderConfig") != ""; });
  EXPECT_THAT(FailureOf("RenderConfig"), HasSubstr("you must not"));
  RunFor(std::chrono::seconds(20));
  EXPECT_EQ(Spec().TextAt({"dns", "spec", "baseDomain"}), "a.example");
}

TEST_F(OperatorUpkeepTest, FollowsTheCredentialsOfTheClustersOwnRegistry) {
  const auto has = [&](const std::string& text) {
    const std::string credentials = DecodeBase64(Spec().TextAt({"internalRegistryPullSecret"})).value_or("");
    return credentials.find(text) != std::string::npos;
  };
  const auto put = [&](const std::string& secret, const std::string& auth) {
    server_.Put("secrets",
                SmallSecret("namespace", secret, ".dockercfg",
                            R"({"image-registry.openshift-image-registry.svc:5000": {"auth": ")" + auth + R"("}})"));
  };
  RunUntil([&] { return has("first"); });
  EXPECT_TRUE(has("of-quay"));
  EXPECT_TRUE(has("default-route-openshift-image-registry.apps.a.example"));
  // The cluster renews the Secret in its place, or makes another one.
  put("puller-1", "second");
  RunUntil([&] { return has("second"); });
  put("puller-2", "third");
  server_.Put("serviceaccounts", SmallPuller("puller-2"));
  RunUntil([&] { return has("third"); });
  // The last good value of a missing one stays.
  server_.Remove("secrets", "puller-2");
  RunUntil([&] { return FailureOf("RenderConfig") != ""; });
  EXPECT_THAT(FailureOf("RenderConfig"), HasSubstr("there is no Secret puller-2"));
  EXPECT_TRUE(has("third"));
  server_.Put("serviceaccounts", SmallPuller("puller-1"));
  RunUntil([&] { return has("second") && FailureOf("RenderConfig") == ""; });
}

TEST_F(OperatorUpkeepTest, CredentialsThatCannotBeReadStopNothingElse) {
  RunUntil([&] { return !Spec().is_null(); });
  upkeep_.reset();
  server_.Put("dnses", SmallSetting(R"({"baseDomain": "b.example"})", "{}"));
  server_.Refuse([](const kube::ReceivedRequest& request) -> std::optional<kube::Answer> {
    if (request.line.find("machine-os-puller") == std::string::npos) return std::nullopt;
    return SmallApiServer::Status(403, "Forbidden", "you must not");
  });
  RunUntil([&] { return Spec().TextAt({"dns", "spec", "baseDomain"}) == "b.example"; });
  EXPECT_THAT(FailureOf("RenderConfig"), HasSubstr("you must not"));
  EXPECT_NE(Spec().TextAt({"internalRegistryPullSecret"}), "");
}

TEST_F(OperatorUpkeepTest, ANewClusterHasNoCredentialsOfItsOwnRegistry) {
  is_installing_ = true;
  RunUntil([&] { return !Spec().is_null(); });
  EXPECT_EQ(Spec().TextAt({"internalRegistryPullSecret"}), "");
  EXPECT_THAT(upkeep_->Failures(), IsEmpty());
}

TEST_F(OperatorUpkeepTest, AWriteThatChangesNothingIsRepeatedRarely) {
  RunUntil([&] { return !Spec().is_null(); });
  RunFor(std::chrono::seconds(20));
  // The API server drops a field that the kind does not have.
  const std::string patch = "PATCH " + kApi + "controllerconfigs";
  server_.Refuse([this, patch](const kube::ReceivedRequest& request) -> std::optional<kube::Answer> {
    if (!request.line.starts_with(patch)) return std::nullopt;
    return kube::Answer{.body = json::ToText(server_.Find("controllerconfigs", kName))};
  });
  const std::size_t before = server_.CountOf(patch);
  const auto count = [&] { return server_.CountOf(patch) - before; };
  server_.Put("dnses", SmallSetting(R"({"baseDomain": "b.example"})", "{}"));
  RunUntil([&] { return count() == 1; });
  RunFor(std::chrono::minutes(4));
  EXPECT_EQ(count(), 1U);
  RunUntil([&] { return count() == 2; });
  // Another input is worth another write at once: so slow a clock does not reach the end of the pause.
  between_looks_ = std::chrono::milliseconds(1);
  server_.Put("dnses", SmallSetting(R"({"baseDomain": "c.example"})", "{}"));
  RunUntil([&] { return count() == 3; });
}

TEST_F(OperatorUpkeepTest, AWriteThatIsRefusedIsAFailure) {
  server_.Refuse("POST " + kApi + "controllerconfigs", SmallApiServer::Status(403, "Forbidden", "you must not"));
  RunUntil([&] { return FailureOf("MachineConfigController") != ""; });
  EXPECT_THAT(FailureOf("MachineConfigController"), HasSubstr("you must not"));
  server_.Refuse([](const kube::ReceivedRequest&) { return std::nullopt; });
  RunUntil([&] { return FailureOf("MachineConfigController") == ""; });
}

TEST_F(OperatorUpkeepTest, LeavesTheControllerConfigOfAClusterThatIsNotOpenShift) {
  server_.Refuse("GET /apis/config.openshift.io/v1/infrastructures",
                 SmallApiServer::Status(404, "NotFound", "the server could not find the requested resource"));
  RunUntil([&] { return server_.CountOf("GET /apis/config.openshift.io/v1/infrastructures") > 0; });
  RunFor(std::chrono::seconds(30));
  EXPECT_EQ(Writes(), 0U);
  EXPECT_EQ(server_.CountOf("GET /api/v1/namespaces"), 0U);
  EXPECT_THAT(upkeep_->Failures(), IsEmpty());
}

// ---- the authorities of others ----

TEST_F(OperatorUpkeepTest, CopiesTheAuthoritiesOfTheApiServerAndAsksNodesToLook) {
  const auto rotates = [&] {
    const json::Value config = server_.Find("controllerconfigs", kName);
    return config.TextAt({"metadata", "annotations", "machineconfiguration.openshift.io/service-ca-rotate"});
  };
  const auto copied = [&] {
    return server_.Find("configmaps", "kubeconfig-data").TextAt({"binaryData", "ca-bundle.crt"});
  };
  const auto put = [&](const std::string& bundle) {
    server_.Put("configmaps",
                SmallConfigMap("openshift-config-managed", "kube-apiserver-server-ca", {{"ca-bundle.crt", bundle}}));
  };
  put("first");
  RunUntil([&] { return copied() == EncodeBase64("first"); });
  put("second");
  RunUntil([&] { return rotates() == "true"; });
  EXPECT_EQ(copied(), EncodeBase64("second"));
  RunUntil([&] { return rotates() == "false"; });
}

TEST_F(OperatorUpkeepTest, MergesTheAuthoritiesOfRegistries) {
  const auto merged = [&] { return server_.Find("configmaps", "merged-trusted-image-registry-ca"); };
  server_.Put("configmaps", SmallConfigMap("openshift-config-managed", "image-registry-ca", {{"a..5000", "one"}}));
  RunUntil([&] { return merged().TextAt({"data", "a..5000"}) == "one"; });
  server_.Put("configmaps", SmallConfigMap("openshift-config-managed", "image-registry-ca", {{"b", "two"}}));
  RunUntil([&] { return merged().TextAt({"data", "b"}) == "two"; });
  EXPECT_EQ(merged().TextAt({"data", "a..5000"}), "");
}

// ---- new machines ----

TEST_F(OperatorUpkeepTest, WritesTheUserDataOfEachPool) {
  api::MachineConfigPool pool;
  pool.metadata.name = "infra";
  pool.metadata.uid = "uid-of-infra";
  view_.pools = {&pool};
  RunUntil([&] { return !server_.Find("secrets", "infra-user-data-managed").is_null(); });
  const json::Value secret = server_.Find("secrets", "infra-user-data-managed");
  const std::string text = DecodeBase64(secret.TextAt({"data", "userData"})).value_or("");
  EXPECT_THAT(text, HasSubstr("https://api-int.a.example:22623/config/infra"));
  EXPECT_THAT(text, HasSubstr(EncodeBase64("the root")));
  EXPECT_THAT(text, Not(HasSubstr("Bearer")));
  EXPECT_EQ(secret["metadata"]["ownerReferences"][0].TextAt({"uid"}), "uid-of-infra");
  // A new authority of the server reaches it.
  server_.Put("configmaps", SmallConfigMap("namespace", "machine-config-server-ca", {{"ca-bundle.crt", "another"}}));
  RunUntil([&] {
    const std::string now = server_.Find("secrets", "infra-user-data-managed").TextAt({"data", "userData"});
    return DecodeBase64(now).value_or("").find(EncodeBase64("another")) != std::string::npos;
  });
}

TEST_F(OperatorUpkeepTest, RenewsTheTokenOfUserDataInTime) {
  const TemporaryDirectory folder;
  const std::string keys = folder.path() / "keys";
  std::ofstream(keys) << std::string(32, 'k') << "\n";
  api::MachineConfigPool pool;
  pool.metadata.name = "worker";
  view_.pools = {&pool};
  Begin(keys);
  const auto token = [&] {
    const std::string data = server_.Find("secrets", "worker-user-data-managed").TextAt({"data", "userData"});
    const auto pointer = json::Parse(DecodeBase64(data).value_or(""));
    return pointer ? clusterops::TokenIn(*pointer) : "";
  };
  RunUntil([&] { return token() != ""; });
  const std::string first = token();
  EXPECT_EQ(serving::CheckToken({std::string(32, 'k')}, first, "worker", clock_.Wall()), serving::TokenProblem::kNone);
  clock_.now += std::chrono::hours(24 * 14);
  RunFor(std::chrono::seconds(20));
  EXPECT_EQ(token(), first);
  clock_.now += std::chrono::hours(24 * 2);
  RunUntil([&] { return token() != first; });
}

TEST_F(OperatorUpkeepTest, MakesTheServersCertificateWhereTheClusterMakesMachines) {
  RunFor(std::chrono::seconds(20));
  EXPECT_TRUE(server_.Find("secrets", "machine-config-server-tls").is_null());
  server_.Put("machinesets", {{"metadata", {{"name", "workers"}, {"namespace", "openshift-machine-api"}}}});
  RunUntil([&] { return !server_.Find("secrets", "machine-config-server-tls").is_null(); });
  const std::string bundle = server_.Find("configmaps", "machine-config-server-ca").TextAt({"data", "ca-bundle.crt"});
  EXPECT_THAT(bundle, HasSubstr("BEGIN CERTIFICATE"));
  RunUntil([&] { return Spec().TextAt({"rootCAData"}) == EncodeBase64(bundle); });
  EXPECT_EQ(server_.CountOf("POST /api/v1/namespaces/namespace/secrets"), 2U);
  RunUntil([&] { return upkeep_->CertificateExpiries().size() == 2; });
  for (const auto& [secret, expiry] : upkeep_->CertificateExpiries()) {
    EXPECT_GT(expiry, clock_.Wall() + std::chrono::hours(24 * 365)) << secret;
  }
}

}  // namespace
}  // namespace pintle::controller
