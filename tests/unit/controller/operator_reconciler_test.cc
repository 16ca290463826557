// SPDX-License-Identifier: Apache-2.0
#include "controller/operator_reconciler.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "base/base64.h"
#include "clusterops/empty_members.h"
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
const std::string kOldKey(32, 'o');
const std::string kNewKey(32, 'n');

// Runs an OperatorReconciler with a small API server that has an OpenShift cluster.
class OperatorReconcilerTest : public testing::Test {
 protected:
  OperatorReconcilerTest() {
    ::setenv("no_proxy", "*", 1);
    PutSmallOpenShift(server_);
  }

  // Looks again and again, as the controller does, until the condition holds.
  void RunUntil(const std::function<bool()>& is_so) {
    if (!reconciler_) Begin();
    event::Timer look(
        *loop_,
        [&] {
          clock_.now += std::chrono::seconds(1);
          reconciler_->Look(view_, is_installing_);
          if (is_so()) return loop_->Stop();
          look.After(std::chrono::milliseconds(2));
        },
        std::chrono::milliseconds(1));
    look.After(std::chrono::milliseconds(0));
    EXPECT_TRUE(Succeeded(event::RunPatiently(*loop_)));
  }
  void RunFor(std::chrono::seconds time) {
    if (!reconciler_) Begin();
    const MonotonicTime end = clock_.now + time;
    RunUntil([&] { return clock_.now > end; });
  }
  void Begin(const std::string& token_keys_file = "") {
    client_ = ValueOf(kube::Client::Create(*loop_, server_.access()));
    reconciler_ = std::make_unique<OperatorReconciler>(
        *client_, clock_, OperatorReconcilerSettings{.namespace_name = "namespace", .token_keys_file = token_keys_file},
        OperatorReconciler::Listener{
            .changed = [] {}, .retry_at = [](MonotonicTime) {}, .trouble = [](const auto&, const auto&) {}});
  }
  // Begins with the pool "worker", and with the file "keys" of this folder.
  void BeginWithWorkers(const TemporaryDirectory& folder) {
    workers_.metadata.name = "worker";
    view_.pools = {&workers_};
    Begin((folder / "keys").string());
  }

  json::Value Spec() { return std::as_const(last_read_ = server_.Find("controllerconfigs", kName))["spec"]; }
  std::string FailureOf(const std::string& task) {
    const auto failures = reconciler_->Failures();
    const auto found = failures.find(task);
    return found == failures.end() ? "" : found->second;
  }
  static void WriteKeys(const TemporaryDirectory& folder, const std::vector<std::string>& keys,
                        std::filesystem::perms mode = std::filesystem::perms(0600)) {
    std::ofstream file(folder / "keys");
    for (const std::string& key : keys) file << key << "\n";
    std::filesystem::permissions(folder / "keys", mode);
  }
  std::string TokenOfWorkers() {
    const std::string data = server_.Find("secrets", "worker-user-data-managed").TextAt({"data", "userData"});
    const auto pointer = json::Parse(DecodeBase64(data).value_or(""));
    return pointer ? clusterops::TokenIn(*pointer) : "";
  }
  std::size_t Writes() { return server_.CountOf("PATCH ") + server_.CountOf("POST "); }

  SmallApiServer server_;
  ManualClock clock_;
  View view_;
  api::MachineConfigPool workers_;
  bool is_installing_ = false;
  json::Value last_read_;
  std::unique_ptr<event::Loop> loop_ = ValueOf(event::Loop::Create());
  std::optional<kube::Client> client_;
  std::unique_ptr<OperatorReconciler> reconciler_;
};

TEST_F(OperatorReconcilerTest, CreatesTheControllerConfig) {
  RunUntil([&] { return !Spec().is_null(); });
  EXPECT_EQ(Spec().TextAt({"platform"}), "aws");
  EXPECT_EQ(Spec().TextAt({"baseOSContainerImage"}), "registry/os@sha256:1");
  EXPECT_THAT(reconciler_->Failures(), IsEmpty());
}

TEST_F(OperatorReconcilerTest, KnowsTheReleaseBeforeThereIsAControllerConfig) {
  server_.Remove("dnses", "cluster");
  RunUntil([&] { return FailureOf("RenderConfig") != ""; });
  EXPECT_TRUE(Spec().is_null());
  EXPECT_EQ(reconciler_->ExpectedRelease(), "4.21.0");
}

TEST_F(OperatorReconcilerTest, WritesAnUnchangedResultOnce) {
  RunUntil([&] { return !Spec().is_null(); });
  RunFor(std::chrono::seconds(20));
  const std::size_t before = Writes();
  RunFor(std::chrono::seconds(60));
  EXPECT_EQ(Writes(), before);
}

TEST_F(OperatorReconcilerTest, FollowsARenewedAuthority) {
  RunUntil([&] { return !Spec().is_null(); });
  server_.Put("configmaps", SmallConfigMap("openshift-config-managed", "kube-apiserver-client-ca",
                                           {{"ca-bundle.crt", NamedCertificate("renewed")}}));
  RunUntil([&] { return Spec().TextAt({"kubeAPIServerServingCAData"}) == EncodeBase64(NamedCertificate("renewed")); });
}

TEST_F(OperatorReconcilerTest, KeepsTheLastGoodValueOfAMissingInputAndReportsIt) {
  RunUntil([&] { return !Spec().is_null(); });
  server_.Remove("configmaps", "kube-apiserver-client-ca");
  RunUntil([&] { return FailureOf("RenderConfig") != ""; });
  EXPECT_THAT(FailureOf("RenderConfig"), HasSubstr("kube-apiserver-client-ca has no ca-bundle.crt"));
  // The other inputs are still followed.
  server_.Put("dnses", SmallSetting(R"({"baseDomain": "b.example"})", "{}"));
  RunUntil([&] { return Spec().TextAt({"dns", "spec", "baseDomain"}) == "b.example"; });
  EXPECT_EQ(Spec().TextAt({"kubeAPIServerServingCAData"}), EncodeBase64(NamedCertificate("clients")));
  server_.Put("configmaps", SmallConfigMap("openshift-config-managed", "kube-apiserver-client-ca",
                                           {{"ca-bundle.crt", NamedCertificate("clients")}}));
  RunUntil([&] { return FailureOf("RenderConfig") == ""; });
}

TEST_F(OperatorReconcilerTest, FollowsTheConfigMapThatASettingNames) {
  RunUntil([&] { return !Spec().is_null(); });
  server_.Put("images", SmallSetting(R"({"additionalTrustedCA": {"name": "mine"}})", "{}"));
  server_.Put("configmaps", SmallConfigMap("openshift-config", "mine", {{"registry..5000", "an authority"}}));
  RunUntil([&] { return std::as_const(last_read_ = Spec())["imageRegistryBundleUserData"].size() == 1; });
}

TEST_F(OperatorReconcilerTest, AnInputThatItMustNotReadStopsOnlyTheFieldsThatNeedIt) {
  server_.Put("configmaps",
              SmallConfigMap("openshift-config", "user-ca-bundle", {{"ca-bundle.crt", NamedCertificate("users")}}));
  RunUntil([&] { return !Spec().is_null(); });
  reconciler_.reset();
  server_.Put("dnses", SmallSetting(R"({"baseDomain": "b.example"})", "{}"));
  server_.Put("configmaps", SmallConfigMap("openshift-config", "user-ca-bundle", {{"ca-bundle.crt", ""}}));
  server_.Refuse([](const kube::ReceivedRequest& request) -> std::optional<kube::Answer> {
    if (request.line.find("user-ca-bundle") == std::string::npos) return std::nullopt;
    return SmallApiServer::Status(403, "Forbidden", "access is forbidden");
  });
  RunUntil([&] { return Spec().TextAt({"dns", "spec", "baseDomain"}) == "b.example"; });
  EXPECT_THAT(FailureOf("RenderConfig"), HasSubstr("access is forbidden"));
  EXPECT_EQ(Spec().TextAt({"additionalTrustBundle"}), EncodeBase64(NamedCertificate("users")));
}

TEST_F(OperatorReconcilerTest, AKindThatItMustNotReadStopsOnlyTheFieldsThatNeedIt) {
  RunUntil([&] { return !Spec().is_null(); });
  reconciler_.reset();
  server_.Put("dnses", SmallSetting(R"({"baseDomain": "b.example"})", "{}"));
  server_.Put("networks", SmallSetting(R"({"serviceNetwork": ["10.0.0.0/16"]})", "{}"));
  server_.Refuse("GET /apis/config.openshift.io/v1/networks",
                 SmallApiServer::Status(403, "Forbidden", "networks: access is forbidden"));
  RunUntil([&] { return Spec().TextAt({"dns", "spec", "baseDomain"}) == "b.example"; });
  EXPECT_THAT(FailureOf("RenderConfig"), HasSubstr("networks: access is forbidden"));
  EXPECT_EQ(Spec().TextAt({"clusterDNSIP"}), "172.30.0.10");
}

TEST_F(OperatorReconcilerTest, AnInvalidInputStopsOnlyTheFieldsThatNeedIt) {
  server_.Put("configmaps",
              SmallConfigMap("openshift-config-managed", "kube-cloud-config", {{"cloud.conf", "[Global]"}}));
  workers_.metadata.name = "worker";
  view_.pools = {&workers_};
  RunUntil([&] { return Spec().TextAt({"cloudProviderConfig"}) == "[Global]"; });
  RunFor(std::chrono::seconds(20));
  json::Value invalid = SmallConfigMap("openshift-config-managed", "kube-cloud-config", {});
  invalid["data"]["cloud.conf"] = 5;
  server_.Put("configmaps", invalid);
  RunUntil([&] { return FailureOf("RenderConfig").find("kube-cloud-config") != std::string::npos; });
  server_.Put("configmaps", SmallConfigMap("openshift-config-managed", "kube-apiserver-client-ca",
                                           {{"ca-bundle.crt", NamedCertificate("renewed")}}));
  RunUntil([&] { return Spec().TextAt({"kubeAPIServerServingCAData"}) == EncodeBase64(NamedCertificate("renewed")); });
  EXPECT_EQ(Spec().TextAt({"cloudProviderConfig"}), "[Global]");
  // The objects that are made from other inputs are still kept up.
  server_.Remove("secrets", "worker-user-data-managed");
  RunUntil([&] { return !server_.Find("secrets", "worker-user-data-managed").is_null(); });
  server_.Put("configmaps", SmallConfigMap("openshift-config-managed", "kube-apiserver-server-ca",
                                           {{"ca-bundle.crt", NamedCertificate("first")}}));
  RunUntil([&] { return !server_.Find("configmaps", "kubeconfig-data").is_null(); });
  server_.Put("configmaps",
              SmallConfigMap("openshift-config-managed", "kube-cloud-config", {{"cloud.conf", "[Other]"}}));
  RunUntil([&] { return Spec().TextAt({"cloudProviderConfig"}) == "[Other]" && FailureOf("RenderConfig") == ""; });
}

TEST_F(OperatorReconcilerTest, MakesNoCertificatesWhileTheAuthoritiesOfMachinesCannotBeRead) {
  server_.Put("configmaps",
              SmallConfigMap("namespace", "machine-config-server-ca", {{"ca-bundle.crt", NamedCertificate("server")}}));
  RunUntil([&] { return Spec().TextAt({"rootCAData"}) == EncodeBase64(NamedCertificate("server")); });
  reconciler_.reset();
  server_.Put("machinesets", {{"metadata", {{"name", "a"}, {"namespace", "openshift-machine-api"}}}});
  server_.Refuse([](const kube::ReceivedRequest& request) -> std::optional<kube::Answer> {
    const bool is_of_bundle = request.line.find("configmaps") != std::string::npos &&
                              request.line.find("machine-config-server-ca") != std::string::npos;
    if (!is_of_bundle) return std::nullopt;
    return SmallApiServer::Status(403, "Forbidden", "access is forbidden");
  });
  RunUntil([&] { return FailureOf("MachineConfigServer") != ""; });
  RunFor(std::chrono::seconds(20));
  EXPECT_THAT(FailureOf("MachineConfigServer"), HasSubstr("access is forbidden"));
  EXPECT_THAT(FailureOf("RenderConfig"), HasSubstr("access is forbidden"));
  EXPECT_TRUE(server_.Find("secrets", "machine-config-server-ca").is_null());
  EXPECT_EQ(Spec().TextAt({"rootCAData"}), EncodeBase64(NamedCertificate("server")));
}

TEST_F(OperatorReconcilerTest, FollowsTheSettingsWhileTheMachineConfigurationCannotBeRead) {
  view_.unreadable_settings = "the MachineConfiguration cannot be read";
  RunUntil([&] { return !Spec().is_null(); });
  server_.Put("configmaps", SmallConfigMap("openshift-config-managed", "kube-apiserver-client-ca",
                                           {{"ca-bundle.crt", NamedCertificate("renewed")}}));
  RunUntil([&] { return Spec().TextAt({"kubeAPIServerServingCAData"}) == EncodeBase64(NamedCertificate("renewed")); });
}

TEST_F(OperatorReconcilerTest, AnUnreadableOsImageStreamStopsOnlyTheImages) {
  api::OSImageStream stream;
  stream.metadata.annotations["machineconfiguration.openshift.io/release-image-version"] = "HASH";
  stream.status = {.available_streams = {{.name = "a", .os_image = "os-of-a", .os_extensions_image = "ext-of-a"}},
                   .default_stream = "a"};
  view_.os_image_stream = &stream;
  RunUntil([&] { return Spec().TextAt({"baseOSContainerImage"}) == "os-of-a"; });
  // While it cannot be read, the view has its last readable version, or none if the controller has been restarted.
  for (const bool is_known : {true, false}) {
    view_.os_image_stream = is_known ? &stream : nullptr;
    view_.unreadable_os_image_stream = "cluster: decoding a OSImageStream: $.status: must be an object";
    const std::string domain = is_known ? "known.example" : "unknown.example";
    server_.Put("dnses", SmallSetting(R"({"baseDomain": ")" + domain + R"("})", "{}"));
    RunUntil([&] { return Spec().TextAt({"dns", "spec", "baseDomain"}) == domain; });
    EXPECT_THAT(FailureOf("RenderConfig"), HasSubstr(view_.unreadable_os_image_stream));
    EXPECT_EQ(Spec().TextAt({"baseOSContainerImage"}), "os-of-a");
    EXPECT_EQ(Spec().TextAt({"baseOSExtensionsContainerImage"}), "ext-of-a");
  }
  view_.unreadable_os_image_stream = "";
  view_.os_image_stream = &stream;
  stream.metadata.resource_version = "2";
  stream.status.available_streams[0].os_extensions_image = "ext-of-b";
  RunUntil([&] { return Spec().TextAt({"baseOSExtensionsContainerImage"}) == "ext-of-b"; });
  EXPECT_EQ(FailureOf("RenderConfig"), "");
}

TEST_F(OperatorReconcilerTest, CorrectsAControllerConfigWithFieldsOfWrongTypes) {
  RunUntil([&] { return !Spec().is_null(); });
  json::Value config = server_.Find("controllerconfigs", kName);
  const json::Value good = config["spec"];
  for (const auto& [field, value] : good.members()) {
    if (!clusterops::IsEmptyText(value)) config["spec"][field] = 5;
  }
  view_.unreadable_controller_config = "the ControllerConfig cannot be decoded";
  server_.Put("controllerconfigs", config);
  RunUntil([&] { return Spec() == good; });
}

// An object of the cluster, and a change after which it cannot be used.
struct MalformedInput {
  std::string plural;
  std::string name;
  std::string change_in_words;
  std::function<void(json::Value& object)> change;
  std::string why;  // What the reported reason contains.

  friend void PrintTo(const MalformedInput& row, std::ostream* out) {
    *out << row.plural << " " << row.name << ": " << row.change_in_words;
  }
};

// Most settings have no schema here, so a value of any type reaches the controller.
std::vector<MalformedInput> MalformedInputs() {
  const auto at = [](std::vector<std::string> path, const std::string& text) {
    return [path = std::move(path), value = ValueOf(json::Parse(text))](json::Value& object) {
      json::Value* place = &object;
      for (const std::string& key : path) place = &(*place)[key];
      *place = value;
    };
  };
  std::vector<MalformedInput> rows = {
      {"infrastructures", "cluster", "its status is a text", at({"status"}, R"("AWS")"),
       "Infrastructure named cluster"},
      {"infrastructures", "cluster", "its platform is a number", at({"status", "platformStatus", "type"}, "5"),
       "$.status.platformStatus.type"},
      {"infrastructures", "cluster", "its labels are a number", at({"metadata", "labels"}, "5"), "$.metadata.labels"},
      {"networks", "cluster", "its ranges are a text", at({"spec", "serviceNetwork"}, R"("10.0.0.0/16")"),
       "$.spec.serviceNetwork"},
      {"dnses", "cluster", "its domain is a number", at({"spec", "baseDomain"}, "5"), "$.spec.baseDomain"},
      {"proxies", "cluster", "its status is a text", at({"status"}, R"("http://p")"), "Proxy named cluster: $.status"},
      {"proxies", "cluster", "it names its authorities by a number", at({"spec", "trustedCA", "name"}, "5"),
       "$.spec.trustedCA.name"},
      {"images", "cluster", "it names its authorities by a number", at({"spec", "additionalTrustedCA", "name"}, "5"),
       "$.spec.additionalTrustedCA.name"},
      {"configmaps", "machine-config-operator-images", "images.json is no JSON", at({"data", "images.json"}, R"("{")"),
       "images.json"},
      {"configmaps", "machine-config-operator-images", "an image is a number",
       at({"data", "images.json"}, R"("{\"releaseVersion\": \"4.21.0\", \"machineConfigOperator\": 5}")"),
       "images.json: $.machineConfigOperator"},
      {"serviceaccounts", "machine-os-puller", "its Secrets are a text", at({"imagePullSecrets"}, R"("puller-1")"),
       "$.imagePullSecrets"},
      {"secrets", "puller-1", "its credentials are no JSON", at({"data", ".dockercfg"}, R"("e30x")"), "puller-1"},
      {"secrets", "pull-secret", "its credentials are a list", at({"data", ".dockerconfigjson"}, R"("W10=")"),
       "pull-secret"},
      {"secrets", "pull-secret", "its data are a list", at({"data"}, "[]"), "$.data"},
  };
  for (const char* bundle : {"machine-config-server-ca", "kube-apiserver-client-ca", "user-ca-bundle", "of-the-proxy",
                             "kube-apiserver-server-ca"}) {
    rows.push_back({"configmaps", bundle, "it has no certificate", at({"data", "ca-bundle.crt"}, R"("none")"), bundle});
  }
  for (const char* map : {"machine-config-server-ca", "root-ca", "bootstrap", "kube-apiserver-client-ca",
                          "user-ca-bundle", "of-the-proxy", "image-registry-ca", "of-the-image", "kube-cloud-config",
                          "machine-config-osimageurl", "machine-config-operator-images", "kube-apiserver-server-ca",
                          "kubeconfig-data", "merged-trusted-image-registry-ca"}) {
    rows.push_back({"configmaps", map, "its data are a list", at({"data"}, "[]"), map});
  }
  return rows;
}

class MalformedInputTest : public OperatorReconcilerTest, public testing::WithParamInterface<MalformedInput> {
 protected:
  // Puts every object that fields are made from.
  MalformedInputTest() {
    const auto put = [this](const char* namespace_name, const char* name, std::map<std::string, std::string> data) {
      server_.Put("configmaps", SmallConfigMap(namespace_name, name, std::move(data)));
    };
    server_.Put("proxies", SmallSetting(R"({"httpProxy": "http://p", "trustedCA": {"name": "of-the-proxy"}})",
                                        R"({"httpProxy": "http://p"})"));
    server_.Put("images", SmallSetting(R"({"additionalTrustedCA": {"name": "of-the-image"}})", "{}"));
    put("namespace", "machine-config-server-ca", {{"ca-bundle.crt", NamedCertificate("server")}});
    put("openshift-config", "user-ca-bundle", {{"ca-bundle.crt", NamedCertificate("users")}});
    put("openshift-config", "of-the-proxy", {{"ca-bundle.crt", NamedCertificate("proxy")}});
    put("openshift-config", "of-the-image", {{"a..5000", "an authority"}});
    put("openshift-config-managed", "image-registry-ca", {{"b", "another"}});
    put("openshift-config-managed", "kube-cloud-config", {{"cloud.conf", "[Global]"}});
    put("openshift-config-managed", "kube-apiserver-server-ca", {{"ca-bundle.crt", NamedCertificate("api")}});
  }
};

TEST_P(MalformedInputTest, StopsOnlyTheFieldsThatAreMadeFromIt) {
  const MalformedInput& row = GetParam();
  RunUntil([&] {
    return !Spec().is_null() && !server_.Find("configmaps", "kubeconfig-data").is_null() &&
           !server_.Find("configmaps", "merged-trusted-image-registry-ca").is_null();
  });
  RunFor(std::chrono::seconds(20));
  ASSERT_THAT(reconciler_->Failures(), IsEmpty());
  const json::Value before = Spec();
  // The root authority counts only where the server has no authority of its own.
  if (row.name == "root-ca") server_.Remove("configmaps", "machine-config-server-ca");
  json::Value object = server_.Find(row.plural, row.name);
  ASSERT_FALSE(object.is_null());
  row.change(object);
  server_.Put(row.plural, object);
  RunUntil([&] { return FailureOf("RenderConfig").find(row.why) != std::string::npos; });

  // Another input changes, and the fields that are made from it.
  json::Value expected = before;
  if (row.plural == "networks") {
    server_.Put("dnses", SmallSetting(R"({"baseDomain": "b.example"})", "{}"));
    RunUntil([&] { return Spec().TextAt({"dns", "spec", "baseDomain"}) == "b.example"; });
    // The credentials contain an address in the domain.
    for (const char* field : {"dns", "internalRegistryPullSecret"}) expected[field] = Spec()[field];
  } else {
    server_.Put("networks", SmallSetting(R"({"serviceNetwork": ["10.0.0.0/16"], "networkType": "OVNKubernetes"})",
                                         R"({"networkType": "OVNKubernetes"})"));
    RunUntil([&] { return Spec().TextAt({"clusterDNSIP"}) == "10.0.0.10"; });
    expected["clusterDNSIP"] = "10.0.0.10";
  }
  RunFor(std::chrono::seconds(20));
  EXPECT_EQ(Spec(), expected);
  EXPECT_THAT(FailureOf("RenderConfig"), HasSubstr(row.why));
}

INSTANTIATE_TEST_SUITE_P(All, MalformedInputTest, testing::ValuesIn(MalformedInputs()));

TEST_F(OperatorReconcilerTest, FollowsTheCredentialsOfTheClustersOwnRegistry) {
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
  // If a Secret is missing, the last good value stays.
  server_.Remove("secrets", "puller-2");
  RunUntil([&] { return FailureOf("RenderConfig") != ""; });
  EXPECT_THAT(FailureOf("RenderConfig"), HasSubstr("there is no Secret puller-2"));
  EXPECT_TRUE(has("third"));
  server_.Put("serviceaccounts", SmallPuller("puller-1"));
  RunUntil([&] { return has("second") && FailureOf("RenderConfig") == ""; });
}

TEST_F(OperatorReconcilerTest, CredentialsThatCannotBeReadStopNothingElse) {
  RunUntil([&] { return !Spec().is_null(); });
  reconciler_.reset();
  server_.Put("dnses", SmallSetting(R"({"baseDomain": "b.example"})", "{}"));
  server_.Refuse([](const kube::ReceivedRequest& request) -> std::optional<kube::Answer> {
    if (request.line.find("machine-os-puller") == std::string::npos) return std::nullopt;
    return SmallApiServer::Status(403, "Forbidden", "access is forbidden");
  });
  RunUntil([&] { return Spec().TextAt({"dns", "spec", "baseDomain"}) == "b.example"; });
  EXPECT_THAT(FailureOf("RenderConfig"), HasSubstr("access is forbidden"));
  EXPECT_NE(Spec().TextAt({"internalRegistryPullSecret"}), "");
}

TEST_F(OperatorReconcilerTest, ANewClusterHasNoCredentialsOfItsOwnRegistry) {
  is_installing_ = true;
  RunUntil([&] { return !Spec().is_null(); });
  EXPECT_EQ(Spec().TextAt({"internalRegistryPullSecret"}), "");
  EXPECT_THAT(reconciler_->Failures(), IsEmpty());
}

TEST_F(OperatorReconcilerTest, AWriteThatIsRefusedIsAFailure) {
  server_.Refuse("POST " + kApi + "controllerconfigs", SmallApiServer::Status(403, "Forbidden", "access is forbidden"));
  RunUntil([&] { return FailureOf("MachineConfigController") != ""; });
  EXPECT_THAT(FailureOf("MachineConfigController"), HasSubstr("access is forbidden"));
  server_.Refuse([](const kube::ReceivedRequest&) { return std::nullopt; });
  RunUntil([&] { return FailureOf("MachineConfigController") == ""; });
}

TEST_F(OperatorReconcilerTest, AnUnkeptWriteIsRepeatedSeldomAndReported) {
  RunUntil([&] { return !Spec().is_null(); });
  const std::string write = "PATCH " + kApi + "controllerconfigs/" + kName;
  server_.Refuse([&](const kube::ReceivedRequest& request) -> std::optional<kube::Answer> {
    if (!request.line.starts_with(write)) return std::nullopt;
    return kube::Answer{.body = json::ToText(server_.Find("controllerconfigs", kName))};
  });
  server_.Put("dnses", SmallSetting(R"({"baseDomain": "b.example"})", "{}"));
  RunFor(std::chrono::seconds(60));
  EXPECT_GE(server_.CountOf(write), 3U);
  EXPECT_LE(server_.CountOf(write), kube::kMostInAMinute);
  EXPECT_THAT(FailureOf("MachineConfigController"), HasSubstr("accepted the write but changed nothing"));
  server_.Refuse({});
  RunUntil([&] { return Spec().TextAt({"dns", "spec", "baseDomain"}) == "b.example"; });
  RunUntil([&] { return FailureOf("MachineConfigController") == ""; });
}

TEST_F(OperatorReconcilerTest, LeavesTheControllerConfigOfAClusterThatIsNotOpenShift) {
  server_.Refuse("GET /apis/config.openshift.io/v1/infrastructures",
                 SmallApiServer::Status(404, "NotFound", "the server could not find the requested resource"));
  RunUntil([&] { return server_.CountOf("GET /apis/config.openshift.io/v1/infrastructures") > 0; });
  RunFor(std::chrono::seconds(30));
  EXPECT_EQ(Writes(), 0U);
  EXPECT_EQ(server_.CountOf("GET /api/v1/namespaces"), 0U);
  EXPECT_THAT(reconciler_->Failures(), IsEmpty());
}

// ---- the authorities of others ----

TEST_F(OperatorReconcilerTest, CopiesTheAuthoritiesOfTheApiServerAndAsksNodesToLook) {
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
  put(NamedCertificate("first"));
  RunUntil([&] { return copied() == EncodeBase64(NamedCertificate("first")); });
  put(NamedCertificate("second"));
  RunUntil([&] { return rotates() == "true"; });
  EXPECT_EQ(copied(), EncodeBase64(NamedCertificate("second")));
  RunUntil([&] { return rotates() == "false"; });
  put("garbage");
  RunUntil([&] { return FailureOf("RenderConfig") != ""; });
  EXPECT_THAT(FailureOf("RenderConfig"), HasSubstr("kube-apiserver-server-ca has a ca-bundle.crt in which no"));
  EXPECT_EQ(copied(), EncodeBase64(NamedCertificate("second")));
}

TEST_F(OperatorReconcilerTest, MergesTheAuthoritiesOfRegistries) {
  const auto merged = [&] { return server_.Find("configmaps", "merged-trusted-image-registry-ca"); };
  server_.Put("configmaps", SmallConfigMap("openshift-config-managed", "image-registry-ca", {{"a..5000", "one"}}));
  RunUntil([&] { return merged().TextAt({"data", "a..5000"}) == "one"; });
  server_.Put("configmaps", SmallConfigMap("openshift-config-managed", "image-registry-ca", {{"b", "two"}}));
  RunUntil([&] { return merged().TextAt({"data", "b"}) == "two"; });
  EXPECT_EQ(merged().TextAt({"data", "a..5000"}), "");
}

// ---- new machines ----

TEST_F(OperatorReconcilerTest, WritesTheUserDataOfEachPool) {
  api::MachineConfigPool pool;
  pool.metadata.name = "infra";
  pool.metadata.uid = "uid-of-infra";
  view_.pools = {&pool};
  RunUntil([&] { return !server_.Find("secrets", "infra-user-data-managed").is_null(); });
  const json::Value secret = server_.Find("secrets", "infra-user-data-managed");
  const std::string text = DecodeBase64(secret.TextAt({"data", "userData"})).value_or("");
  EXPECT_THAT(text, HasSubstr("https://api-int.a.example:22623/config/infra"));
  EXPECT_THAT(text, HasSubstr(EncodeBase64(NamedCertificate("root"))));
  EXPECT_THAT(text, Not(HasSubstr("Bearer")));
  EXPECT_EQ(secret["metadata"]["ownerReferences"][0].TextAt({"uid"}), "uid-of-infra");
  // A new authority of the server is written to the user data.
  server_.Put("configmaps", SmallConfigMap("namespace", "machine-config-server-ca",
                                           {{"ca-bundle.crt", NamedCertificate("another")}}));
  RunUntil([&] {
    const std::string now = server_.Find("secrets", "infra-user-data-managed").TextAt({"data", "userData"});
    return DecodeBase64(now).value_or("").find(EncodeBase64(NamedCertificate("another"))) != std::string::npos;
  });
}

TEST_F(OperatorReconcilerTest, CorrectsUserDataThatHasLostItsLabelOrMayBeATemplate) {
  api::MachineConfigPool worker_pool;
  worker_pool.metadata.name = "worker";
  view_.pools = {&worker_pool};
  RunUntil([&] { return !server_.Find("secrets", "worker-user-data-managed").is_null(); });
  // The mirror has only Secrets with the label.
  server_.Silence(true);
  server_.Put("secrets", {{"metadata", {{"name", "infra-user-data-managed"}, {"namespace", "openshift-machine-api"}}},
                          {"data", {{"userData", EncodeBase64("old")}}}});
  api::MachineConfigPool pool;
  pool.metadata.name = "infra";
  view_.pools = {&pool, &worker_pool};
  const auto secret = [&] { return server_.Find("secrets", "infra-user-data-managed"); };
  RunUntil([&] {
    const json::Value now = secret();
    return now.Find({"metadata", "labels",
                     "machineconfiguration.openshift.io/managed-ca-bundle-derived-from-configmap"}) != nullptr;
  });
  server_.Silence(false);
  const auto is_corrected = [&] {
    const json::Value now = secret();
    return now.TextAt({"data", "disableTemplating"}) == EncodeBase64("true\n") &&
           DecodeBase64(now.TextAt({"data", "userData"})).value_or("").find("/config/infra") != std::string::npos;
  };
  RunUntil(is_corrected);
  json::Value changed = secret();
  changed["data"].Erase("disableTemplating");
  server_.Put("secrets", changed);
  RunUntil(is_corrected);
}

TEST_F(OperatorReconcilerTest, RestsWhileTheNamespaceOfTheMachineApiIsMissing) {
  server_.Remove("namespaces", "openshift-machine-api");
  workers_.metadata.name = "worker";
  view_.pools = {&workers_};
  RunUntil([&] { return !Spec().is_null(); });
  const auto requests = [&] {
    return server_.CountOf("POST /api/v1/namespaces/openshift-machine-api/") +
           server_.CountOf("GET /api/v1/namespaces/openshift-machine-api/") +
           server_.CountOf("GET /apis/machine.openshift.io/");
  };
  RunFor(std::chrono::minutes(5));
  EXPECT_EQ(requests(), 0U);
  EXPECT_THAT(reconciler_->Failures(), IsEmpty());
  // The namespace is followed.
  server_.Put("namespaces", {{"metadata", {{"name", "openshift-machine-api"}}}});
  RunUntil([&] { return !server_.Find("secrets", "worker-user-data-managed").is_null(); });
  server_.Put("namespaces",
              {{"metadata", {{"name", "openshift-machine-api"}, {"deletionTimestamp", "2026-11-21T20:00:00Z"}}}});
  server_.Remove("secrets", "worker-user-data-managed");
  RunFor(std::chrono::seconds(20));
  const std::size_t before = requests();
  RunFor(std::chrono::minutes(5));
  EXPECT_EQ(requests(), before);
  EXPECT_THAT(reconciler_->Failures(), IsEmpty());
}

// An administrator may not have applied the manifests of this version yet.
TEST_F(OperatorReconcilerTest, WritesUserDataWithoutTheRightToReadTheNamespace) {
  server_.Refuse("GET /api/v1/namespaces?", SmallApiServer::Status(403, "Forbidden", "access is forbidden"));
  workers_.metadata.name = "worker";
  view_.pools = {&workers_};
  RunUntil([&] { return !server_.Find("secrets", "worker-user-data-managed").is_null(); });
}

TEST_F(OperatorReconcilerTest, RenewsTheTokenOfUserDataInTime) {
  const TemporaryDirectory folder;
  WriteKeys(folder, {kOldKey});
  BeginWithWorkers(folder);
  RunUntil([&] { return TokenOfWorkers() != ""; });
  const std::string first = TokenOfWorkers();
  EXPECT_EQ(serving::CheckToken({kOldKey}, first, "worker", clock_.Wall()), serving::TokenProblem::kNone);
  clock_.now += std::chrono::hours(24 * 14);
  RunFor(std::chrono::seconds(20));
  EXPECT_EQ(TokenOfWorkers(), first);
  clock_.now += std::chrono::hours(24 * 2);
  RunUntil([&] { return TokenOfWorkers() != first; });
}

TEST_F(OperatorReconcilerTest, ANewKeySignsTokensWhenAllServersHaveIt) {
  const TemporaryDirectory folder;
  // This replica has just begun to act, so perhaps other servers do not have the first key yet.
  WriteKeys(folder, {kNewKey, kOldKey});
  BeginWithWorkers(folder);
  const auto is_signed_with = [&](const std::string& key) {
    return serving::CheckToken({key}, TokenOfWorkers(), "worker", clock_.Wall()) == serving::TokenProblem::kNone;
  };
  RunUntil([&] { return TokenOfWorkers() != ""; });
  EXPECT_TRUE(is_signed_with(kOldKey));
  RunUntil([&] { return is_signed_with(kNewKey); });
  const std::string newest(32, 'x');
  WriteKeys(folder, {newest, kNewKey, kOldKey});
  clock_.now += std::chrono::minutes(2);
  RunFor(std::chrono::minutes(2));
  EXPECT_TRUE(is_signed_with(kNewKey));
  RunUntil([&] { return is_signed_with(newest); });
}

TEST_F(OperatorReconcilerTest, KeysThatTheServerRefusesSignNoTokens) {
  const TemporaryDirectory folder;
  WriteKeys(folder, {kOldKey});
  BeginWithWorkers(folder);
  RunUntil([&] { return TokenOfWorkers() != ""; });
  const std::string first = TokenOfWorkers();
  WriteKeys(folder, {kNewKey}, std::filesystem::perms(0644));
  clock_.now += std::chrono::minutes(2);
  RunUntil([&] { return FailureOf("MachineConfigPools") != ""; });
  EXPECT_THAT(FailureOf("MachineConfigPools"), HasSubstr("everyone on this machine may read it"));
  RunFor(std::chrono::minutes(2));
  EXPECT_EQ(TokenOfWorkers(), first);
}

TEST_F(OperatorReconcilerTest, MakesTheServersCertificateWhereTheClusterMakesMachines) {
  RunFor(std::chrono::seconds(20));
  EXPECT_TRUE(server_.Find("secrets", "machine-config-server-tls").is_null());
  server_.Put("machinesets", {{"metadata", {{"name", "workers"}, {"namespace", "openshift-machine-api"}}}});
  RunUntil([&] { return !server_.Find("secrets", "machine-config-server-tls").is_null(); });
  const std::string bundle = server_.Find("configmaps", "machine-config-server-ca").TextAt({"data", "ca-bundle.crt"});
  EXPECT_THAT(bundle, HasSubstr("BEGIN CERTIFICATE"));
  RunUntil([&] { return Spec().TextAt({"rootCAData"}) == EncodeBase64(bundle); });
  EXPECT_EQ(server_.CountOf("POST /api/v1/namespaces/namespace/secrets"), 2U);
  RunUntil([&] { return reconciler_->CertificateExpiries().size() == 2; });
  for (const auto& [secret, expiry] : reconciler_->CertificateExpiries()) {
    EXPECT_GT(expiry, clock_.Wall() + std::chrono::hours(24 * 365)) << secret;
  }
}

TEST_F(OperatorReconcilerTest, KeepsTheTrustedAuthorityWhenItsConfigMapIsGone) {
  server_.Put("configmaps",
              SmallConfigMap("namespace", "machine-config-server-ca", {{"ca-bundle.crt", NamedCertificate("server")}}));
  RunUntil([&] { return Spec().TextAt({"rootCAData"}) == EncodeBase64(NamedCertificate("server")); });
  server_.Remove("configmaps", "machine-config-server-ca");
  RunUntil([&] { return FailureOf("RenderConfig") != ""; });
  EXPECT_THAT(FailureOf("RenderConfig"), HasSubstr("ConfigMap machine-config-server-ca has no ca-bundle.crt"));
  EXPECT_EQ(Spec().TextAt({"rootCAData"}), EncodeBase64(NamedCertificate("server")));
}

TEST_F(OperatorReconcilerTest, SignsNothingWhileTheClockIsBehind) {
  api::Node node;
  node.metadata.name = "worker-0";
  node.metadata.creation_timestamp =
      api::Time{std::chrono::floor<std::chrono::seconds>(clock_.Wall()) + std::chrono::hours(48)};
  view_.nodes = {&node};
  server_.Put("machinesets", {{"metadata", {{"name", "workers"}, {"namespace", "openshift-machine-api"}}}});
  RunUntil([&] { return FailureOf("MachineConfigServer") != ""; });
  EXPECT_THAT(FailureOf("MachineConfigServer"), HasSubstr("is behind: worker-0 was created later"));
  EXPECT_EQ(server_.CountOf("POST /api/v1/namespaces/namespace/secrets"), 0U);
  clock_.now += std::chrono::hours(48);
  RunUntil([&] { return !server_.Find("secrets", "machine-config-server-tls").is_null(); });
}

}  // namespace
}  // namespace pintle::controller
