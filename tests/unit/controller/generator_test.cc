// SPDX-License-Identifier: Apache-2.0
#include "controller/generator.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/base64.h"
#include "controller/announcer.h"
#include "controller/cluster.h"
#include "event/loop.h"
#include "support/expect.h"
#include "support/temporary_directory.h"
#include "unit/controller/manual_clock.h"
#include "unit/controller/small_api_server.h"
#include "unit/controller/small_openshift.h"
#include "unit/event/patience.h"

namespace pintle::controller {
namespace {

using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* kSigned = "machineconfiguration.openshift.io/generated-by-controller-version";
constexpr const char* kSuffix = "machineconfiguration.openshift.io/mc-name-suffix";

// Runs a Generator with a small API server and a small folder of templates.
class GeneratorTest : public testing::Test {
 protected:
  GeneratorTest() {
    ::setenv("no_proxy", "*", 1);
    AddFile("kubelet", "/etc/kubernetes/kubelet.conf", "kind: KubeletConfiguration\\nmaxPods: 250\\n");
    AddFile("storage", "/etc/containers/storage.conf", "[storage]\\ndriver = 'overlay'\\n");
    AddFile("registries", "/etc/containers/registries.conf", "");
    AddFile("policy", "/etc/containers/policy.json",
            R"({\"default\":[{\"type\":\"insecureAcceptAnything\"}],\"transports\":{}})");
    for (const std::string role : {"master", "worker"}) {
      WriteTemplate(role + "/00-" + role + "/_base/files/role.yaml", "path: /etc/role\ncontents: {inline: x}\n");
      AddPool(role, {{"machineconfiguration.openshift.io/mco-built-in", ""}});
    }
    PutTemplateInputs(server_);
  }

  void WriteTemplate(const std::string& path, const std::string& text) {
    const std::filesystem::path file = templates_.path() / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  void AddFile(const std::string& name, const std::string& path, const std::string& contents) {
    WriteTemplate("common/_base/files/" + name + ".yaml",
                  "path: " + path + "\nmode: 0644\ncontents: {inline: \"" + contents + "\"}\n");
  }
  void AddPool(const std::string& name, json::Value labels = json::Value::object()) {
    labels["pool"] = name;
    server_.Put("machineconfigpools", {{"metadata", {{"name", name}, {"uid", "uid-of-" + name}, {"labels", labels}}},
                                       {"spec", {{"nodeSelector", {{"matchLabels", {{"role", name}}}}}}}});
  }
  void EnableCredentialProviders() {
    const json::Value gate = {{"name", "CRIOCredentialProviderConfig"}};
    const json::Value gates = {{"version", "4.20"}, {"enabled", json::Value::array({gate})}};
    server_.Put("featuregates",
                {{"metadata", {{"name", "cluster"}}}, {"status", {{"featureGates", json::Value::array({gates})}}}});
  }
  // Puts an object of a kind that selects a pool.
  void AddManaged(const std::string& plural, const std::string& name, const std::string& pool, json::Value spec,
                  json::Value metadata = json::Value::object()) {
    metadata["name"] = name;
    metadata["uid"] = "uid-of-" + name;
    metadata["generation"] = 1;
    spec["machineConfigPoolSelector"] = {{"matchLabels", {{"pool", pool}}}};
    server_.Put(plural, {{"metadata", std::move(metadata)}, {"spec", std::move(spec)}});
  }

  // Looks again and again, as the controller does, until the condition holds.
  void RunUntil(const std::function<bool()>& is_so) {
    if (!generator_) Begin();
    event::Timer look(
        *loop_,
        [&] {
          clock_.now += std::chrono::seconds(1);
          if (cluster_->CanRender()) generator_->Look(cluster_->Look());
          if (is_so()) return loop_->Stop();
          look.After(std::chrono::milliseconds(2));
        },
        std::chrono::milliseconds(1));
    look.After(std::chrono::milliseconds(0));
    EXPECT_TRUE(Succeeded(event::RunPatiently(*loop_)));
  }
  // Looks until the condition holds, but this many times at most.
  void RunForLooks(int looks, const std::function<bool()>& is_so) {
    RunUntil([&] { return is_so() || --looks == 0; });
  }
  void Begin() {
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
            .changed = [] {},
            .retry_at = [](MonotonicTime) {},
            .trouble = [this](const std::string& what,
                              const Error& error) { trouble_ += what + ": " + error.message() + "\n"; }});
  }

  // Puts a config that another build of the controller has made.  `owner` is the uid of its KubeletConfig.
  void PutConfigOfOtherBuild(const std::string& name, const std::string& owner) {
    const json::Value reference = {{"apiVersion", "machineconfiguration.openshift.io/v1"},
                                   {"kind", "KubeletConfig"},
                                   {"name", owner},
                                   {"uid", owner}};
    server_.Put(
        "machineconfigs",
        {{"metadata",
          {{"name", name}, {"annotations", {{kSigned, "OLD"}}}, {"ownerReferences", json::Value::array({reference})}}},
         {"spec", {{"config", {{"ignition", {{"version", "3.5.0"}}}}}}}});
  }
  // Puts a KubeletConfig and a ContainerRuntimeConfig that are being deleted.
  void PutDeletedObjects() {
    const auto put = [this](const std::string& plural, const std::string& config) {
      AddManaged(plural, "deleted", "worker", json::Value::object(),
                 {{"deletionTimestamp", "2026-01-01T00:00:00Z"}, {"finalizers", json::Value::array({config})}});
    };
    PutConfigOfOtherBuild("99-worker-generated-kubelet", "uid-of-deleted");
    put("kubeletconfigs", "99-worker-generated-kubelet");
    put("containerruntimeconfigs", "99-worker-generated-containerruntime");
  }
  // Returns whether these objects have no finalizers any more, and no configs.
  bool AreDeletedObjectsFree() {
    return FinalizersOf("kubeletconfigs", "deleted").empty() &&
           FinalizersOf("containerruntimeconfigs", "deleted").empty() && !HasConfig("99-worker-generated-kubelet");
  }

  // Returns the series of mcc_sub_controller_state.
  std::vector<std::string> States() {
    std::vector<std::string> states;
    for (const SubControllerState& state : generator_->States(cluster_->Look())) {
      states.push_back(state.sub_controller + ": " + state.state + ": " + state.object);
    }
    return states;
  }
  bool HasConfig(const std::string& name) { return !server_.Find("machineconfigs", name).is_null(); }
  // Returns the status and the message of the last condition of a type.
  std::string ConditionOf(const std::string& plural, const std::string& name, const std::string& type) {
    const json::Value object = server_.Find(plural, name);
    std::string found;
    for (const json::Value& condition : object["status"]["conditions"]) {
      if (condition["type"] == type) found = condition["status"].text() + " " + condition.TextAt({"message"});
    }
    return found;
  }
  std::vector<std::string> FinalizersOf(const std::string& plural, const std::string& name) {
    std::vector<std::string> finalizers;
    const json::Value object = server_.Find(plural, name);
    for (const json::Value& finalizer : object["metadata"]["finalizers"]) finalizers.push_back(finalizer.text());
    return finalizers;
  }
  // Returns the text of a file in a config.
  std::string FileIn(const std::string& config, const std::string& path) {
    const json::Value object = server_.Find("machineconfigs", config);
    for (const json::Value& file : object["spec"]["config"]["storage"]["files"]) {
      const std::string source = file.TextAt({"contents", "source"});
      if (file["path"] == path) return DecodeBase64(source.substr(source.find(',') + 1)).value_or(source);
    }
    return "";
  }

  TemporaryDirectory templates_;
  SmallApiServer server_;
  ManualClock clock_;
  std::unique_ptr<event::Loop> loop_ = ValueOf(event::Loop::Create());
  std::optional<kube::Client> client_;
  std::unique_ptr<Cluster> cluster_;
  std::unique_ptr<Announcer> events_;
  std::unique_ptr<Generator> generator_;
  std::string trouble_;
};

TEST_F(GeneratorTest, MakesConfigsFromTemplatesAndCompletesTheControllerConfig) {
  RunUntil([&] {
    return ConditionOf("controllerconfigs", "machine-config-controller", "TemplateControllerCompleted")
        .starts_with("T");
  });
  const json::Value config = server_.Find("machineconfigs", "00-worker");
  EXPECT_EQ(config.TextAt({"metadata", "annotations", kSigned}), "HASH");
  EXPECT_EQ(config.TextAt({"metadata", "labels", "machineconfiguration.openshift.io/role"}), "worker");
  EXPECT_EQ(config["metadata"]["ownerReferences"][0].TextAt({"kind"}), "ControllerConfig");
  EXPECT_TRUE(HasConfig("00-master"));
}

TEST_F(GeneratorTest, AddsTheCredentialsForTheClustersOwnRegistryToThePullSecret) {
  WriteTemplate("common/_base/files/auth.yaml", "path: /etc/auth\ncontents: {inline: '{{.PullSecret}}'}\n");
  server_.Put("internalreleaseimages", {{"metadata", {{"name", "cluster"}}}});
  RunUntil([&] {
    return ConditionOf("controllerconfigs", "machine-config-controller", "TemplateControllerFailing").starts_with("T");
  });
  EXPECT_THAT(ConditionOf("controllerconfigs", "machine-config-controller", "TemplateControllerFailing"),
              HasSubstr("could not merge IRI registry credentials into pull secret: there is no Secret "
                        "internal-release-image-registry-auth"));
  server_.Put("secrets",
              {{"metadata",
                {{"name", "internal-release-image-registry-auth"}, {"namespace", "openshift-machine-config-operator"}}},
               {"data", {{"password", EncodeBase64("word")}}}});
  RunUntil([&] { return HasConfig("00-worker"); });
  EXPECT_THAT(FileIn("00-worker", "/etc/auth"), HasSubstr("localhost%3A22625"));
  // The older version of a kind is read only if the present one is missing.
  EXPECT_EQ(server_.CountOf("GET /apis/machineconfiguration.openshift.io/v1alpha1/"), 0U);
}

TEST_F(GeneratorTest, ReadsTheOlderVersionOfAKindIfThePresentOneIsMissing) {
  WriteTemplate("common/_base/files/auth.yaml", "path: /etc/auth\ncontents: {inline: '{{.PullSecret}}'}\n");
  server_.Put("internalreleaseimages", {{"metadata", {{"name", "cluster"}}}});
  server_.Put("secrets",
              {{"metadata",
                {{"name", "internal-release-image-registry-auth"}, {"namespace", "openshift-machine-config-operator"}}},
               {"data", {{"password", EncodeBase64("word")}}}});
  server_.Refuse("GET " + kApi + "internalreleaseimages",
                 SmallApiServer::Status(404, "NotFound", "the server could not find the requested resource"));
  RunUntil([&] { return HasConfig("00-worker"); });
  EXPECT_THAT(FileIn("00-worker", "/etc/auth"), HasSubstr("localhost%3A22625"));
  EXPECT_THAT(States(), Not(Contains(HasSubstr("internalreleaseimages"))));
}

TEST_F(GeneratorTest, MakesNothingWhileTheInternalReleaseImageCannotBeRead) {
  server_.Put("internalreleaseimages", {{"metadata", {{"name", "cluster"}, {"labels", 3}}}});
  RunUntil([&] { return trouble_.find("generating MachineConfigs") != std::string::npos; });
  EXPECT_THAT(trouble_, HasSubstr("labels"));
  EXPECT_FALSE(HasConfig("00-worker"));
}

TEST_F(GeneratorTest, ReportsAKindThatTheServerRefusesToList) {
  server_.Refuse("GET /apis/config.openshift.io/v1/images", SmallApiServer::Status(403, "Forbidden", "no rights"));
  RunUntil([&] { return !generator_->FailureText().empty(); });
  EXPECT_THAT(generator_->FailureText(), StartsWith("listing images: "));
  EXPECT_THAT(generator_->FailureText(), HasSubstr("no rights"));
  EXPECT_TRUE(generator_->is_busy()) << "nothing may be rendered";
}

TEST_F(GeneratorTest, LetsTheRendererReportAControllerConfigThatItCannotRead) {
  RunUntil([&] { return HasConfig("00-worker") && !generator_->is_busy(); });
  json::Value config = server_.Find("controllerconfigs", "machine-config-controller");
  config["spec"]["infra"]["status"]["controlPlaneTopology"] = 3;
  config["metadata"]["generation"] = 2;
  server_.Put("controllerconfigs", config);
  RunUntil([&] { return !cluster_->Look().unreadable_controller_config.empty() && !generator_->is_busy(); });
}

TEST_F(GeneratorTest, ReportsACredentialProviderConfigThatCannotBeRead) {
  EnableCredentialProviders();
  server_.Put("criocredentialproviderconfigs", {{"metadata", {{"name", "cluster"}}}, {"spec", 3}});
  RunUntil([&] { return trouble_.find("making the credential providers' configs") != std::string::npos; });
  EXPECT_THAT(trouble_, HasSubstr("spec"));
}

TEST_F(GeneratorTest, ReportsThatTheServerRefusesTheConfigOfACredentialProviderConfig) {
  EnableCredentialProviders();
  server_.Put("criocredentialproviderconfigs",
              {{"metadata", {{"name", "cluster"}}}, {"spec", {{"matchImages", json::Value::array()}}}});
  const std::string refused = "97-worker-generated-credentialproviderconfig";
  server_.Refuse([&](const kube::ReceivedRequest& request) -> std::optional<kube::Answer> {
    if (!request.line.starts_with("POST") || request.body.find("\"name\":\"" + refused + "\"") == std::string::npos) {
      return std::nullopt;
    }
    return SmallApiServer::Status(422, "Invalid", "the webhook says no");
  });
  RunForLooks(
      500, [&] { return !ConditionOf("criocredentialproviderconfigs", "cluster", "MachineConfigRendered").empty(); });
  const std::string rendered = ConditionOf("criocredentialproviderconfigs", "cluster", "MachineConfigRendered");
  EXPECT_THAT(rendered, StartsWith("False could not Create/Update MachineConfig: "));
  EXPECT_THAT(rendered, HasSubstr("the webhook says no"));
  EXPECT_EQ(ConditionOf("criocredentialproviderconfigs", "cluster", "Validated"), "True Success");
}

TEST_F(GeneratorTest, WritesTheVersionOfAKindThatTheClusterServes) {
  EnableCredentialProviders();
  server_.Put("criocredentialproviderconfigs",
              {{"metadata", {{"name", "cluster"}}}, {"spec", {{"matchImages", json::Value::array()}}}});
  server_.Refuse("GET /apis/config.openshift.io/v1/criocredentialproviderconfigs",
                 SmallApiServer::Status(404, "NotFound", "the server could not find the requested resource"));
  RunUntil([&] { return !ConditionOf("criocredentialproviderconfigs", "cluster", "MachineConfigRendered").empty(); });
  EXPECT_EQ(server_.CountOf("PATCH /apis/config.openshift.io/v1/criocredentialproviderconfigs"), 0U);
  EXPECT_GT(server_.CountOf("PATCH /apis/config.openshift.io/v1alpha1/criocredentialproviderconfigs"), 0U);
  EXPECT_THAT(States(), Not(Contains(HasSubstr("criocredentialproviderconfigs"))));
}

TEST_F(GeneratorTest, ReportsAMissingPullSecretInTheControllerConfig) {
  server_.Remove("secrets", "pull-secret");
  RunUntil([&] {
    return ConditionOf("controllerconfigs", "machine-config-controller", "TemplateControllerFailing").starts_with("T");
  });
  EXPECT_THAT(ConditionOf("controllerconfigs", "machine-config-controller", "TemplateControllerFailing"),
              HasSubstr("secrets \"pull-secret\" not found"));
  EXPECT_FALSE(HasConfig("00-worker"));
}

TEST_F(GeneratorTest, MakesTheConfigOfAKubeletConfigAndKeepsWhatOthersHaveSetOnIt) {
  AddManaged("kubeletconfigs", "pods", "worker", {{"kubeletConfig", {{"maxPods", 9}}}},
             {{"annotations", {{"team", "a"}}}, {"finalizers", json::Value::array({"example.test/backup"})}});
  RunUntil([&] { return ConditionOf("kubeletconfigs", "pods", "Accepted") == "True Success"; });
  EXPECT_THAT(FileIn("99-worker-generated-kubelet", "/etc/kubernetes/kubelet.conf"), HasSubstr("maxPods: 9\n"));
  const json::Value object = server_.Find("kubeletconfigs", "pods");
  EXPECT_EQ(object.TextAt({"metadata", "annotations", "team"}), "a");
  EXPECT_EQ(*object.Find({"metadata", "annotations", kSuffix}), "");
  EXPECT_THAT(FinalizersOf("kubeletconfigs", "pods"),
              ElementsAre("example.test/backup", "99-worker-generated-kubelet"));
  const json::Value config = server_.Find("machineconfigs", "99-worker-generated-kubelet");
  EXPECT_EQ(config["metadata"]["ownerReferences"][0].TextAt({"uid"}), "uid-of-pods");
}

TEST_F(GeneratorTest, WritesNothingWhenNothingChanges) {
  AddManaged("kubeletconfigs", "pods", "worker", {{"kubeletConfig", {{"maxPods", 9}}}});
  AddManaged("containerruntimeconfigs", "pids", "worker", {{"containerRuntimeConfig", {{"pidsLimit", 2048}}}});
  RunUntil([&] {
    return ConditionOf("kubeletconfigs", "pods", "Success") != "" &&
           ConditionOf("containerruntimeconfigs", "pids", "Success") != "";
  });
  const auto writes = [&] { return server_.CountOf("PATCH") + server_.CountOf("POST") + server_.CountOf("DELETE"); };
  const std::size_t before = writes();
  int looks = 0;
  RunUntil([&] { return ++looks == 50; });
  EXPECT_EQ(writes(), before);
}

TEST_F(GeneratorTest, ReportsABadObjectAndGoesOnWithOtherObjects) {
  AddManaged("kubeletconfigs", "bad", "worker", {{"logLevel", 11}});
  AddManaged("kubeletconfigs", "good", "master", {{"kubeletConfig", {{"maxPods", 9}}}});
  AddManaged("containerruntimeconfigs", "bad", "worker", {{"containerRuntimeConfig", {{"pidsLimit", 1}}}});
  RunUntil([&] {
    return ConditionOf("kubeletconfigs", "good", "Accepted") != "" &&
           ConditionOf("kubeletconfigs", "bad", "Accepted") != "" &&
           ConditionOf("containerruntimeconfigs", "bad", "Failure") != "";
  });
  EXPECT_EQ(ConditionOf("kubeletconfigs", "good", "Accepted"), "True Success");
  EXPECT_EQ(ConditionOf("kubeletconfigs", "bad", "Accepted"),
            "False Error: KubeletConfig's LogLevel is not valid [0,10]: 11");
  EXPECT_EQ(ConditionOf("containerruntimeconfigs", "bad", "Failure"), "True Error: invalid PidsLimit 1");
  EXPECT_FALSE(HasConfig("99-worker-generated-kubelet"));
}

TEST_F(GeneratorTest, ReportsAConfigThatTheServerRefusesAndGoesOnWithOtherConfigs) {
  const std::string refused = "99-worker-generated-kubelet";
  server_.Refuse([&](const kube::ReceivedRequest& request) -> std::optional<kube::Answer> {
    if (!request.line.starts_with("POST") || request.body.find("\"name\":\"" + refused + "\"") == std::string::npos) {
      return std::nullopt;
    }
    return SmallApiServer::Status(422, "Invalid", "the webhook says no");
  });
  AddManaged("kubeletconfigs", "a", "worker", {{"kubeletConfig", {{"maxPods", 9}}}});
  AddManaged("kubeletconfigs", "b", "master", {{"kubeletConfig", {{"maxPods", 9}}}});
  RunUntil([&] {
    return ConditionOf("kubeletconfigs", "b", "Accepted") != "" && ConditionOf("kubeletconfigs", "a", "Accepted") != "";
  });
  EXPECT_THAT(ConditionOf("kubeletconfigs", "a", "Accepted"), HasSubstr("the webhook says no"));
  EXPECT_EQ(ConditionOf("kubeletconfigs", "b", "Accepted"), "True Success");
  // A refused config does not prevent the rendering of pools.
  RunUntil([&] { return !generator_->is_busy(); });
}

TEST_F(GeneratorTest, ReportsThatTheServerRefusesTheFinalizersOfAnObjectUntilItTakesThem) {
  std::atomic<bool> is_refusing = true;
  server_.Refuse([&](const kube::ReceivedRequest& request) -> std::optional<kube::Answer> {
    const bool is_about_finalizers = request.line.starts_with("PATCH " + kApi + "kubeletconfigs/a") &&
                                     request.line.find("/status") == std::string::npos;
    if (!is_refusing || !is_about_finalizers) return std::nullopt;
    return SmallApiServer::Status(422, "Invalid", "the webhook says no");
  });
  AddManaged("kubeletconfigs", "a", "worker", {{"kubeletConfig", {{"maxPods", 9}}}});
  RunUntil([&] { return ConditionOf("kubeletconfigs", "a", "Accepted") != ""; });
  EXPECT_THAT(ConditionOf("kubeletconfigs", "a", "Accepted"), HasSubstr("the webhook says no"));
  is_refusing = false;
  RunUntil([&] { return ConditionOf("kubeletconfigs", "a", "Accepted") == "True Success"; });
  EXPECT_TRUE(HasConfig("99-worker-generated-kubelet"));
}

TEST_F(GeneratorTest, DoesNotReportAnEarlierRefusalOfAnObjectThatWasCorrected) {
  std::atomic<bool> is_reported_again = false;
  server_.Refuse([&](const kube::ReceivedRequest& request) -> std::optional<kube::Answer> {
    // The condition Failure is there only while the latest outcome is a failure.
    if (request.line.starts_with("PATCH " + kApi + "kubeletconfigs/a/status") &&
        request.body.find("\"observedGeneration\":2") != std::string::npos &&
        request.body.find("\"type\":\"Failure\"") != std::string::npos) {
      is_reported_again = true;
    }
    const bool is_about_config = request.body.find("\"name\":\"99-worker-generated-kubelet\"") != std::string::npos;
    const bool is_corrected = request.body.find("20-logging.conf") != std::string::npos;
    if (!request.line.starts_with("POST") || !is_about_config || is_corrected) return std::nullopt;
    return SmallApiServer::Status(422, "Invalid", "the webhook says no");
  });
  AddManaged("kubeletconfigs", "a", "worker", {{"kubeletConfig", {{"maxPods", 9}}}});
  RunUntil([&] { return ConditionOf("kubeletconfigs", "a", "Accepted") != ""; });
  json::Value object = server_.Find("kubeletconfigs", "a");
  object["metadata"]["generation"] = 2;
  object["spec"]["logLevel"] = 3;
  server_.Put("kubeletconfigs", object);
  RunUntil([&] { return ConditionOf("kubeletconfigs", "a", "Accepted") == "True Success"; });
  EXPECT_FALSE(is_reported_again);
}

TEST_F(GeneratorTest, MakesTheConfigForAPoolThatIsAddedLater) {
  AddManaged("containerruntimeconfigs", "pids", "gpu", {{"containerRuntimeConfig", {{"pidsLimit", 2048}}}});
  RunUntil([&] { return ConditionOf("containerruntimeconfigs", "pids", "Failure") != ""; });
  EXPECT_EQ(ConditionOf("containerruntimeconfigs", "pids", "Failure"),
            "True Error: could not find any MachineConfigPool set for ContainerRuntimeConfig pids");
  AddPool("gpu");
  RunUntil([&] { return ConditionOf("containerruntimeconfigs", "pids", "Success") != ""; });
  EXPECT_THAT(FileIn("99-gpu-generated-containerruntime", "/etc/crio/crio.conf.d/01-ctrcfg-pidsLimit"),
              HasSubstr("pids_limit = 2048"));
}

// The API server accepts finalizers of at most 63 characters.
TEST_F(GeneratorTest, MakesConfigsWhoseNamesAreTooLongForAFinalizer) {
  const std::string pool(45, 'p');
  const std::string config = "99-" + pool + "-generated-kubelet";
  server_.Put("machineconfigpools",
              {{"metadata", {{"name", pool}, {"uid", "uid-of-p"}, {"labels", {{"pool", "worker"}}}}},
               {"spec", {{"nodeSelector", {{"matchLabels", {{"role", pool}}}}}}}});
  server_.Refuse([&](const kube::ReceivedRequest& request) -> std::optional<kube::Answer> {
    const bool has_long_finalizer =
        request.line.starts_with("PATCH " + kApi + "kubeletconfigs/") && request.body.find(config) != std::string::npos;
    if (!has_long_finalizer) return std::nullopt;
    return SmallApiServer::Status(422, "Invalid", "metadata.finalizers: must be no more than 63 characters");
  });
  AddManaged("kubeletconfigs", "pods", "worker", {{"kubeletConfig", {{"maxPods", 9}}}});
  int looks = 0;
  RunUntil([&] { return ConditionOf("kubeletconfigs", "pods", "Accepted") != "" || ++looks == 500; });
  EXPECT_EQ(ConditionOf("kubeletconfigs", "pods", "Accepted"), "True Success") << trouble_;
  EXPECT_TRUE(HasConfig(config));
  EXPECT_TRUE(HasConfig("99-worker-generated-kubelet"));
  EXPECT_THAT(FinalizersOf("kubeletconfigs", "pods"), ElementsAre("99-worker-generated-kubelet"));
}

TEST_F(GeneratorTest, GivesEachOfTwoObjectsItsOwnNumber) {
  for (const std::string name : {"first", "second"}) {
    AddManaged("kubeletconfigs", name, "worker", {{"kubeletConfig", {{"maxPods", 9}}}},
               {{"creationTimestamp", name == "first" ? "2026-01-01T00:00:00Z" : "2026-01-02T00:00:00Z"}});
  }
  RunUntil([&] {
    return ConditionOf("kubeletconfigs", "first", "Success") != "" &&
           ConditionOf("kubeletconfigs", "second", "Success") != "";
  });
  EXPECT_THAT(FinalizersOf("kubeletconfigs", "first"), ElementsAre("99-worker-generated-kubelet-1"));
  EXPECT_THAT(FinalizersOf("kubeletconfigs", "second"), ElementsAre("99-worker-generated-kubelet-2"));
}

TEST_F(GeneratorTest, WritesTheNumberOfOneObjectAfterTheOther) {
  for (const std::string name : {"first", "second"}) {
    AddManaged("kubeletconfigs", name, "worker", {{"kubeletConfig", {{"maxPods", 9}}}});
  }
  // The first write gets its answer when there is a second one, or after twenty more looks.
  std::atomic<int> looks = 0;
  std::atomic<int> writes = 0;
  std::atomic<int> writes_before_an_answer = 0;
  server_.Refuse([&](const kube::ReceivedRequest& request) -> std::optional<kube::Answer> {
    const bool is_about_finalizers =
        request.line.starts_with("PATCH ") && request.body.find("finalizers") != std::string::npos;
    if (!is_about_finalizers || ++writes != 1) return std::nullopt;
    for (const int begun = looks; looks < begun + 20 && writes == 1;) std::this_thread::yield();
    writes_before_an_answer = writes.load();
    return std::nullopt;
  });
  RunUntil([&] {
    ++looks;
    return ConditionOf("kubeletconfigs", "first", "Success") != "" &&
           ConditionOf("kubeletconfigs", "second", "Success") != "";
  });
  EXPECT_EQ(writes_before_an_answer, 1);
}

TEST_F(GeneratorTest, RefusesACopyThatHasTheNumberOfTheOriginal) {
  AddManaged("kubeletconfigs", "a", "worker", {{"kubeletConfig", {{"maxPods", 9}}}});
  RunUntil([&] { return HasConfig("99-worker-generated-kubelet"); });
  AddManaged("kubeletconfigs", "b", "worker", {{"kubeletConfig", {{"maxPods", 10}}}},
             {{"annotations", {{"machineconfiguration.openshift.io/mc-name-suffix", ""}}}});
  RunUntil([&] { return !ConditionOf("kubeletconfigs", "b", "Failure").empty(); });
  EXPECT_THAT(ConditionOf("kubeletconfigs", "b", "Failure"),
              HasSubstr("which the older object a already uses; remove"));
  EXPECT_THAT(FileIn("99-worker-generated-kubelet", "/etc/kubernetes/kubelet.conf"), HasSubstr("maxPods: 9\n"));
}

TEST_F(GeneratorTest, RemovesTheConfigsOfADeletedObjectBeforeItsFinalizers) {
  AddManaged("kubeletconfigs", "pods", "worker", {{"kubeletConfig", {{"maxPods", 9}}}},
             {{"finalizers", json::Value::array({"example.test/backup"})}});
  RunUntil([&] { return ConditionOf("kubeletconfigs", "pods", "Success") != ""; });
  json::Value object = server_.Find("kubeletconfigs", "pods");
  object["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  server_.Put("kubeletconfigs", object);
  bool was_there = false;
  RunUntil([&] {
    const bool are_finalizers_gone = FinalizersOf("kubeletconfigs", "pods").size() == 1;
    was_there = was_there || (are_finalizers_gone && HasConfig("99-worker-generated-kubelet"));
    return are_finalizers_gone;
  });
  EXPECT_FALSE(was_there);
  EXPECT_THAT(FinalizersOf("kubeletconfigs", "pods"), ElementsAre("example.test/backup"));
}

TEST_F(GeneratorTest, RemovesTheConfigsOfADeletedObjectAlsoWithoutAPullSecret) {
  AddManaged("kubeletconfigs", "pods", "worker", {{"kubeletConfig", {{"maxPods", 9}}}});
  RunUntil([&] { return ConditionOf("kubeletconfigs", "pods", "Success") != ""; });
  json::Value secret = server_.Find("secrets", "pull-secret");
  secret["data"] = {{".dockerconfigjson", EncodeBase64("{")}};
  server_.Put("secrets", secret);
  RunUntil([&] {
    return ConditionOf("controllerconfigs", "machine-config-controller", "TemplateControllerFailing")
        .starts_with("True");
  });
  json::Value object = server_.Find("kubeletconfigs", "pods");
  object["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  server_.Put("kubeletconfigs", object);
  RunUntil([&] { return FinalizersOf("kubeletconfigs", "pods").empty(); });
  EXPECT_FALSE(HasConfig("99-worker-generated-kubelet"));
}

TEST_F(GeneratorTest, RemovesTheConfigsOfADeletedObjectAlsoIfTheFeatureGatesAreOfOtherReleases) {
  json::Value gates = json::Value::array();
  for (const char* version : {"4.1", "4.2"}) gates.push_back({{"version", version}});
  server_.Put("featuregates", {{"metadata", {{"name", "cluster"}}}, {"status", {{"featureGates", std::move(gates)}}}});
  PutDeletedObjects();
  RunForLooks(500, [&] { return AreDeletedObjectsFree(); });
  EXPECT_TRUE(AreDeletedObjectsFree());
  EXPECT_THAT(trouble_, HasSubstr("reading the feature gates"));
}

TEST_F(GeneratorTest, RemovesTheConfigsOfADeletedObjectAlsoIfTheClustersSettingsCannotBeRead) {
  server_.Put("apiservers", {{"metadata", {{"name", "cluster"}}}, {"spec", 3}});
  PutDeletedObjects();
  RunForLooks(500, [&] { return AreDeletedObjectsFree(); });
  EXPECT_TRUE(AreDeletedObjectsFree());
  EXPECT_THAT(trouble_, HasSubstr("generating MachineConfigs"));
}

TEST_F(GeneratorTest, RestoresAConfigThatSomebodyHasChanged) {
  AddManaged("kubeletconfigs", "pods", "worker", {{"kubeletConfig", {{"maxPods", 9}}}});
  RunUntil([&] { return ConditionOf("kubeletconfigs", "pods", "Success") != ""; });
  json::Value config = server_.Find("machineconfigs", "99-worker-generated-kubelet");
  config["spec"]["config"] = {{"ignition", {{"version", "3.5.0"}}}};
  config["metadata"]["annotations"]["team"] = "a";
  server_.Put("machineconfigs", config);
  RunUntil([&] { return FileIn("99-worker-generated-kubelet", "/etc/kubernetes/kubelet.conf") != ""; });
  EXPECT_EQ(server_.Find("machineconfigs", "99-worker-generated-kubelet").TextAt({"metadata", "annotations", "team"}),
            "a");
}

TEST_F(GeneratorTest, DecidesAgainIfSomebodyChangesAConfigFirst) {
  RunUntil([&] {
    return ConditionOf("controllerconfigs", "machine-config-controller", "TemplateControllerCompleted")
        .starts_with("True");
  });
  std::atomic<bool> is_changed_again = false;
  server_.Refuse([&](const kube::ReceivedRequest& request) -> std::optional<kube::Answer> {
    if (!request.line.starts_with("PATCH " + kApi + "machineconfigs/00-worker")) return std::nullopt;
    if (is_changed_again.exchange(true)) return std::nullopt;
    json::Value config = server_.Find("machineconfigs", "00-worker");
    config["metadata"]["annotations"]["team"] = "a";
    server_.Put("machineconfigs", config);
    return std::nullopt;
  });
  json::Value config = server_.Find("machineconfigs", "00-worker");
  config["spec"]["kernelArguments"] = json::Value::array({"quiet"});
  server_.Put("machineconfigs", config);
  RunUntil([&] {
    const json::Value now = server_.Find("machineconfigs", "00-worker");
    return is_changed_again && now["spec"]["kernelArguments"].empty();
  });
  EXPECT_EQ(server_.Find("machineconfigs", "00-worker").TextAt({"metadata", "annotations", "team"}), "a");
  EXPECT_EQ(trouble_, "");
}

TEST_F(GeneratorTest, SeldomRepeatsAnUnkeptWriteAndReportsIt) {
  RunUntil([&] {
    return ConditionOf("controllerconfigs", "machine-config-controller", "TemplateControllerCompleted")
        .starts_with("True");
  });
  const std::string write = "PATCH " + kApi + "machineconfigs/00-worker";
  server_.Refuse([&](const kube::ReceivedRequest& request) -> std::optional<kube::Answer> {
    if (!request.line.starts_with(write)) return std::nullopt;
    return kube::Answer{.body = json::ToText(server_.Find("machineconfigs", "00-worker"))};
  });
  json::Value config = server_.Find("machineconfigs", "00-worker");
  config["spec"]["kernelArguments"] = json::Value::array({"quiet"});
  server_.Put("machineconfigs", config);
  const MonotonicTime begin = clock_.now;
  RunUntil([&] { return clock_.now > begin + std::chrono::seconds(60); });
  EXPECT_GE(server_.CountOf(write), 3U);
  EXPECT_LE(server_.CountOf(write), kube::kMostInAMinute);
  EXPECT_THAT(ConditionOf("controllerconfigs", "machine-config-controller", "TemplateControllerFailing"),
              HasSubstr("accepted the write but changed nothing"));
}

TEST_F(GeneratorTest, MakesTheConfigsOfFeaturesAndOfTheSettingsOfNodes) {
  server_.Put(
      "featuregates",
      {{"metadata", {{"name", "cluster"}}},
       {"status",
        {{"featureGates",
          json::Value::array({{{"version", "4.20"}, {"enabled", json::Value::array({{{"name", "Own"}}})}}})}}}});
  server_.Put("nodes", {{"metadata", {{"name", "cluster"}}}, {"spec", {{"cgroupMode", "v2"}}}});
  RunUntil([&] { return HasConfig("97-worker-generated-kubelet") && HasConfig("98-master-generated-kubelet"); });
  EXPECT_THAT(FileIn("98-master-generated-kubelet", "/etc/kubernetes/kubelet.conf"), HasSubstr("Own: true"));
  const json::Value config = server_.Find("machineconfigs", "97-worker-generated-kubelet");
  EXPECT_EQ(config["spec"]["kernelArguments"][0], "systemd.unified_cgroup_hierarchy=1");
}

// Both configs have kernel arguments, and a pool that is rendered with both would have each argument twice.
TEST_F(GeneratorTest, IsBusyUntilAConfigWithAnOldNameIsRemoved) {
  const std::string old = "97-worker-uid-of-worker-kubelet";
  const std::string present = "97-worker-generated-kubelet";
  server_.Put("machineconfigs",
              {{"metadata", {{"name", old}}}, {"spec", {{"config", {{"ignition", {{"version", "3.5.0"}}}}}}}});
  server_.Put("nodes", {{"metadata", {{"name", "cluster"}}}, {"spec", {{"cgroupMode", "v2"}}}});
  // The first removal gets its answer after five more looks.
  std::atomic<int> looks = 0;
  std::atomic<int> removals = 0;
  server_.Refuse([&](const kube::ReceivedRequest& request) -> std::optional<kube::Answer> {
    if (!request.line.starts_with("DELETE ") || ++removals != 1) return std::nullopt;
    for (const int begun = looks; looks < begun + 5;) std::this_thread::yield();
    return std::nullopt;
  });
  bool was_idle = false;
  RunUntil([&] {
    ++looks;
    const std::vector<const api::MachineConfig*> configs = cluster_->Look().configs;
    const auto has = [&](const std::string& name) {
      return std::any_of(configs.begin(), configs.end(), [&](const auto* it) { return it->metadata.name == name; });
    };
    was_idle = was_idle || (has(old) && has(present) && !generator_->is_busy());
    return has(present) && !has(old) && !generator_->is_busy();
  });
  EXPECT_FALSE(was_idle);
}

TEST_F(GeneratorTest, IsNotBusyWithAConfigThatTheServerDoesNotRemove) {
  const std::string old = "97-worker-uid-of-worker-kubelet";
  server_.Put("machineconfigs",
              {{"metadata", {{"name", old}}}, {"spec", {{"config", {{"ignition", {{"version", "3.5.0"}}}}}}}});
  server_.Put("nodes", {{"metadata", {{"name", "cluster"}}}, {"spec", {{"cgroupMode", "v2"}}}});
  server_.Refuse("DELETE ", SmallApiServer::Status(403, "Forbidden", "the webhook says no"));
  RunUntil([&] { return server_.CountOf("DELETE ") > 0 && !generator_->is_busy(); });
  EXPECT_TRUE(HasConfig("97-worker-generated-kubelet"));
  EXPECT_THAT(trouble_, HasSubstr("removing " + old + ": "));
  // The server removes it, but a finalizer of another program keeps it.
  server_.Refuse([&](const kube::ReceivedRequest& request) -> std::optional<kube::Answer> {
    if (!request.line.starts_with("DELETE ")) return std::nullopt;
    json::Value config = server_.Find("machineconfigs", old);
    config["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
    server_.Put("machineconfigs", config);
    return kube::Answer{.body = "{}"};
  });
  const std::size_t before = server_.CountOf("DELETE ");
  RunUntil([&] { return server_.CountOf("DELETE ") > before + 1 && !generator_->is_busy(); });
  EXPECT_TRUE(HasConfig(old));
}

TEST_F(GeneratorTest, DoesNotGoFromTheFastestLatencyProfileToTheSlowestAtOnce) {
  const auto put_profile = [&](const char* profile) {
    server_.Put("nodes", {{"metadata", {{"name", "cluster"}}}, {"spec", {{"workerLatencyProfile", profile}}}});
  };
  const auto frequency = [&] {
    const std::string text = FileIn("97-worker-generated-kubelet", "/etc/kubernetes/kubelet.conf");
    const std::size_t at = text.find("nodeStatusUpdateFrequency: ");
    return at == std::string::npos ? "" : text.substr(at, text.find('\n', at) - at);
  };
  put_profile("Default");
  RunUntil([&] { return frequency() == "nodeStatusUpdateFrequency: 10s"; });
  put_profile("LowUpdateSlowReaction");
  RunUntil([&] { return !server_.EventReasons().empty(); });
  EXPECT_THAT(server_.EventReasons(), ElementsAre("ActionProhibited"));
  EXPECT_THAT(trouble_, HasSubstr("transition not allowed"));
  EXPECT_EQ(frequency(), "nodeStatusUpdateFrequency: 10s");
  put_profile("MediumUpdateAverageReaction");
  RunUntil([&] { return frequency() == "nodeStatusUpdateFrequency: 20s"; });
  put_profile("LowUpdateSlowReaction");
  RunUntil([&] { return frequency() == "nodeStatusUpdateFrequency: 1m0s"; });
}

TEST_F(GeneratorTest, ReportsABadSetOfMirrorsAndLeavesTheConfigsAsTheyAre) {
  server_.Put("images",
              {{"metadata", {{"name", "cluster"}, {"uid", "uid-of-image"}}}, {"spec", json::Value::object()}});
  server_.Put("clusterversions",
              {{"metadata", {{"name", "version"}}},
               {"status", {{"desired", {{"image", "r.test/release@sha256:" + std::string(64, '0')}}}}}});
  RunUntil([&] { return HasConfig("99-worker-generated-registries"); });
  EXPECT_EQ(generator_->FailureText(), "");
  const json::Value before = server_.Find("machineconfigs", "99-worker-generated-registries");
  const json::Value set = {{"source", "https://"}, {"mirrors", json::Value::array({"m.test/a"})}};
  server_.Put("imagedigestmirrorsets",
              {{"metadata", {{"name", "bad"}}}, {"spec", {{"imageDigestMirrors", json::Value::array({set})}}}});
  RunForLooks(500, [&] { return !server_.EventReasons().empty(); });
  EXPECT_THAT(generator_->FailureText(), StartsWith("making the registries' config of pool master: "));
  EXPECT_THAT(generator_->FailureText(), HasSubstr("https://"));
  EXPECT_THAT(server_.EventReasons(), Each("GenerationFailed"));
  EXPECT_EQ(server_.Find("machineconfigs", "99-worker-generated-registries"), before);
  server_.Remove("imagedigestmirrorsets", "bad");
  RunForLooks(500, [&] { return generator_->FailureText().empty(); });
  EXPECT_EQ(generator_->FailureText(), "");
}

TEST_F(GeneratorTest, MakesTheConfigsAgainWhenTheControllerConfigChanges) {
  AddFile("kubelet", "/etc/kubernetes/kubelet.conf",
          "kind: KubeletConfiguration\\nclusterDNS: ['{{.ClusterDNSIP}}']\\n");
  json::Value config = server_.Find("controllerconfigs", "machine-config-controller");
  config["spec"]["clusterDNSIP"] = "172.30.0.10";
  server_.Put("controllerconfigs", config);
  server_.Put("nodes", {{"metadata", {{"name", "cluster"}}}});
  const json::Value gates = {{"version", "4.20"}};
  server_.Put("featuregates",
              {{"metadata", {{"name", "cluster"}}}, {"status", {{"featureGates", json::Value::array({gates})}}}});
  AddManaged("kubeletconfigs", "pods", "worker", {{"kubeletConfig", {{"maxPods", 9}}}});
  const auto have_address = [&](const std::string& address) {
    const auto has = [&](const std::string& name) {
      return FileIn(name, "/etc/kubernetes/kubelet.conf").find(address) != std::string::npos;
    };
    return has("97-worker-generated-kubelet") && has("98-worker-generated-kubelet") &&
           has("99-worker-generated-kubelet");
  };
  RunForLooks(500, [&] { return have_address("172.30.0.10"); });
  EXPECT_TRUE(have_address("172.30.0.10"));
  config = server_.Find("controllerconfigs", "machine-config-controller");
  config["spec"]["clusterDNSIP"] = "172.31.0.10";
  config["metadata"]["generation"] = 2;
  server_.Put("controllerconfigs", config);
  RunForLooks(500, [&] { return have_address("172.31.0.10"); });
  EXPECT_TRUE(have_address("172.31.0.10"));
}

TEST_F(GeneratorTest, EmitsAnEventAboutNodeSettingsThatHaveNoEffect) {
  server_.Put("nodes", {{"metadata", {{"name", "mine"}}}, {"spec", {{"cgroupMode", "v2"}}}});
  RunUntil([&] { return !server_.EventReasons().empty(); });
  EXPECT_THAT(server_.EventReasons(), ElementsAre("ActionProhibited"));
  EXPECT_FALSE(HasConfig("97-worker-generated-kubelet"));
}

TEST_F(GeneratorTest, ReportsWhatItHasGeneratedForEachPool) {
  AddManaged("kubeletconfigs", "pods", "worker", {{"kubeletConfig", {{"maxPods", 9}}}});
  AddManaged("containerruntimeconfigs", "pids", "worker", {{"containerRuntimeConfig", {{"pidsLimit", 2048}}}});
  server_.Put("nodes", {{"metadata", {{"name", "cluster"}}}, {"spec", json::Value::object()}});
  RunUntil([&] {
    return ConditionOf("kubeletconfigs", "pods", "Success") != "" &&
           ConditionOf("containerruntimeconfigs", "pids", "Success") != "" && HasConfig("00-worker") &&
           HasConfig("97-master-generated-kubelet") && !generator_->is_busy();
  });
  EXPECT_THAT(States(), Contains("machine-config-controller-template: Sync Controller Config: 00-worker"));
  EXPECT_THAT(States(), Contains("machine-config-controller-kubelet-config: Sync Kubelet Config: worker"));
  EXPECT_THAT(States(), Contains("machine-config-controller-kubelet-config: Sync NodeConfig: master"));
  EXPECT_THAT(States(),
              Contains("machine-config-controller-container-runtime-config: Sync Container Runtime Config: worker"));
  // The series of a pool end with it.
  server_.Remove("machineconfigpools", "worker");
  RunUntil([&] { return cluster_->Look().PoolNamed("worker") == nullptr; });
  EXPECT_THAT(States(), Not(Contains("machine-config-controller-kubelet-config: Sync Kubelet Config: worker")));
}

TEST_F(GeneratorTest, ReportsKindsThatTheClusterDoesNotHaveAndGoesOnWithoutThem) {
  server_.Refuse("GET /apis/config.openshift.io/v1/featuregates",
                 SmallApiServer::Status(404, "NotFound", "the server could not find the requested resource"));
  testing::internal::CaptureStderr();
  RunUntil([&] { return HasConfig("00-worker"); });
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("Nothing is generated from featuregates.config.openshift.io, as the cluster does not have this "
                        "kind"));
  EXPECT_THAT(States(), Contains("machine-config-controller-kubelet-config: Kind is missing: "
                                 "featuregates.config.openshift.io"));
}

TEST_F(GeneratorTest, ReportsThatThereAreNoTemplates) {
  std::filesystem::remove_all(templates_.path());
  int looks = 0;
  RunUntil([&] { return ++looks == 3; });
  EXPECT_THAT(States(), ElementsAre("machine-config-controller-template: No templates: " + templates_.path().string()));
  EXPECT_THAT(trouble_, HasSubstr("reading the templates"));
}

TEST_F(GeneratorTest, MakesTheConfigOfRegistriesForTheClustersOwnPools) {
  AddPool("gpu");
  server_.Put("images", {{"metadata", {{"name", "cluster"}}}, {"spec", json::Value::object()}});
  server_.Put("clusterversions", {{"metadata", {{"name", "version"}}},
                                  {"status", {{"desired", {{"image", "r.test/release:4.20"}, {"version", "4.20"}}}}}});
  server_.Put("imagedigestmirrorsets",
              {{"metadata", {{"name", "mirrors"}}},
               {"spec",
                {{"imageDigestMirrors",
                  json::Value::array({{{"source", "r.test"}, {"mirrors", json::Value::array({"m.test"})}}})}}}});
  RunUntil([&] {
    return HasConfig("99-worker-generated-registries") && HasConfig("99-master-generated-registries") &&
           !generator_->is_busy();
  });
  EXPECT_THAT(FileIn("99-worker-generated-registries", "/etc/containers/registries.conf"), HasSubstr("m.test"));
  EXPECT_FALSE(HasConfig("99-gpu-generated-registries"));
  // When the mirror is removed, the config stays, without the file.
  server_.Remove("imagedigestmirrorsets", "mirrors");
  RunUntil([&] { return FileIn("99-worker-generated-registries", "/etc/containers/registries.conf") == ""; });
}

TEST_F(GeneratorTest, ReportsAllProblemsOfAnActionInOneMessage) {
  server_.Put("images",
              {{"metadata", {{"name", "cluster"}}},
               {"spec", {{"registrySources", {{"blockedRegistries", json::Value::array({"r.test", "*.test"})}}}}}});
  server_.Put("clusterversions", {{"metadata", {{"name", "version"}}},
                                  {"status", {{"desired", {{"image", "r.test/release:4.20"}, {"version", "4.20"}}}}}});
  const std::string_view action = "blocking a registry: ";
  RunUntil([&] { return trouble_.find(action) != std::string::npos; });
  const std::string from_action = trouble_.substr(trouble_.find(action));
  const std::string message = from_action.substr(0, from_action.find('\n'));
  EXPECT_THAT(message, HasSubstr("\"r.test\""));
  EXPECT_THAT(message, HasSubstr("\"*.test\""));
}

TEST_F(GeneratorTest, RemovesConfigsThatAnotherBuildHasSignedAndLeavesConfigsOfUsers) {
  const auto put = [&](const std::string& name, json::Value annotations) {
    server_.Put("machineconfigs", {{"metadata", {{"name", name}, {"annotations", std::move(annotations)}}},
                                   {"spec", {{"config", {{"ignition", {{"version", "3.5.0"}}}}}}}});
  };
  put("99-worker-generated-kubelet-4", {{kSigned, "OLD"}});
  put("99-worker-my-generated-kubelet", json::Value::object());
  RunUntil([&] { return !HasConfig("99-worker-generated-kubelet-4"); });
  EXPECT_TRUE(HasConfig("99-worker-my-generated-kubelet"));
}

TEST_F(GeneratorTest, RemovesAConfigOfAnotherBuildForAPoolThatItsObjectNoLongerSelects) {
  PutConfigOfOtherBuild("99-worker-generated-kubelet", "uid-of-moved");
  AddManaged("kubeletconfigs", "moved", "master", {{"kubeletConfig", {{"maxPods", 9}}}},
             {{"annotations", {{kSuffix, ""}}}, {"finalizers", json::Value::array({"99-worker-generated-kubelet"})}});
  RunForLooks(500, [&] { return !HasConfig("99-worker-generated-kubelet"); });
  EXPECT_FALSE(HasConfig("99-worker-generated-kubelet"));
  EXPECT_TRUE(HasConfig("99-master-generated-kubelet"));
}

TEST_F(GeneratorTest, KeepsOnlyTheConfigsOfAnObjectThatHasAProblem) {
  PutConfigOfOtherBuild("99-worker-generated-kubelet", "uid-of-bad");
  PutConfigOfOtherBuild("99-worker-generated-kubelet-1", "");
  PutConfigOfOtherBuild("99-worker-generated-kubelet-2", "uid-of-gone");
  AddManaged("kubeletconfigs", "bad", "worker", {{"logLevel", 11}});
  RunForLooks(500, [&] { return !HasConfig("99-worker-generated-kubelet-2"); });
  EXPECT_FALSE(HasConfig("99-worker-generated-kubelet-2"));
  EXPECT_TRUE(HasConfig("99-worker-generated-kubelet"));
  // The operator's bootstrap makes configs without the uid of their owner, so this one may be the object's.
  EXPECT_TRUE(HasConfig("99-worker-generated-kubelet-1"));
}

TEST_F(GeneratorTest, RemovesNothingWhileAnObjectCannotBeRead) {
  server_.Put("machineconfigs",
              {{"metadata", {{"name", "99-worker-generated-kubelet-4"}, {"annotations", {{kSigned, "OLD"}}}}},
               {"spec", {{"config", {{"ignition", {{"version", "3.5.0"}}}}}}}});
  server_.Put("kubeletconfigs", {{"metadata", {{"name", "bad"}}}, {"spec", {{"logLevel", "high"}}}});
  AddManaged("kubeletconfigs", "good", "master", {{"kubeletConfig", {{"maxPods", 9}}}},
             {{"annotations", {{kSuffix, ""}}}});
  RunUntil([&] { return ConditionOf("kubeletconfigs", "good", "Accepted") == "True Success"; });
  EXPECT_TRUE(HasConfig("99-worker-generated-kubelet-4"));
  EXPECT_THAT(trouble_, HasSubstr("logLevel"));
}

TEST_F(GeneratorTest, IsNotHeldUpByAnUnreadableObjectThatHasNoEffect) {
  server_.Put("featuregates", {{"metadata", {{"name", "other"}}}, {"status", {{"featureGates", "none"}}}});
  server_.Put("machineconfigurations", {{"metadata", {{"name", "other"}}}, {"spec", "none"}});
  server_.Put("images", {{"metadata", {{"name", "other"}}}, {"spec", "none"}});
  server_.Put("images",
              {{"metadata", {{"name", "cluster"}, {"uid", "uid-of-image"}}}, {"spec", json::Value::object()}});
  server_.Put("clusterversions",
              {{"metadata", {{"name", "version"}}},
               {"status", {{"desired", {{"image", "r.test/release@sha256:" + std::string(64, '0')}}}}}});
  AddManaged("kubeletconfigs", "pods", "worker", {{"kubeletConfig", {{"maxPods", 9}}}});
  int looks = 0;
  RunUntil([&] {
    return (HasConfig("99-worker-generated-kubelet") && HasConfig("99-worker-generated-registries")) || ++looks == 500;
  });
  EXPECT_TRUE(HasConfig("99-worker-generated-kubelet"));
  EXPECT_TRUE(HasConfig("99-worker-generated-registries"));
  EXPECT_EQ(cluster_->Look().unreadable_settings, "");
}

TEST_F(GeneratorTest, FollowsTemplatesThatChange) {
  AddManaged("kubeletconfigs", "pods", "worker", {{"kubeletConfig", {{"podPidsLimit", 9}}}});
  RunUntil([&] { return ConditionOf("kubeletconfigs", "pods", "Success") != ""; });
  AddFile("kubelet", "/etc/kubernetes/kubelet.conf", "kind: KubeletConfiguration\\nmaxPods: 111\\n");
  generator_->ReadTemplates();
  RunUntil([&] {
    return FileIn("99-worker-generated-kubelet", "/etc/kubernetes/kubelet.conf").find("maxPods: 111") !=
           std::string::npos;
  });
}

TEST_F(GeneratorTest, DoesNotPutThePullSecretIntoAnError) {
  server_.Put("secrets", {{"metadata", {{"name", "pull-secret"}, {"namespace", "openshift-config"}}},
                          {"type", "kubernetes.io/dockerconfigjson"},
                          {"data", {{".dockerconfigjson", EncodeBase64("hunter2 is no JSON")}}}});
  RunUntil([&] {
    return ConditionOf("controllerconfigs", "machine-config-controller", "TemplateControllerFailing").starts_with("T");
  });
  EXPECT_THAT(ConditionOf("controllerconfigs", "machine-config-controller", "TemplateControllerFailing"),
              Not(HasSubstr("hunter2")));
}

}  // namespace
}  // namespace pintle::controller
