// SPDX-License-Identifier: Apache-2.0
#include "controller/controller.h"

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>

#include "api/annotations.h"
#include "base/base64.h"
#include "clusterops/user_data.h"
#include "controller/garbage.h"
#include "event/loop.h"
#include "json/parse.h"
#include "support/expect.h"
#include "support/temporary_directory.h"
#include "unit/controller/small_api_server.h"
#include "unit/controller/small_openshift.h"
#include "unit/event/patience.h"

namespace pintle::controller {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// The system's clock, which a test can put forward.
class AdjustableClock final : public Clock {
 public:
  MonotonicTime Monotonic() const override { return system_.Monotonic() + ahead; }
  WallTime Wall() const override { return system_.Wall() + ahead; }

  std::chrono::seconds ahead = std::chrono::seconds(0);

 private:
  SystemClock system_;
};

// Runs the whole controller with a small API server.
class ControllerTest : public testing::Test {
 protected:
  ControllerTest() {
    ::setenv("no_proxy", "*", 1);
    server_.Put("controllerconfigs", {{"metadata",
                                       {{"name", "machine-config-controller"},
                                        {"generation", 1},
                                        {"annotations", {{std::string(api::kGeneratedByVersionAnnotation), "4.20"}}}}},
                                      {"spec", {{"baseOSContainerImage", "registry/os@sha256:1"}}}});
    for (const std::string role : {"infra", "worker"}) {
      server_.Put("machineconfigs",
                  {{"metadata", {{"name", "00-" + role}, {"labels", {{std::string(api::kRoleLabel), role}}}}},
                   {"spec", {{"config", {{"ignition", {{"version", "3.4.0"}}}}}}}});
      server_.Put("machineconfigpools",
                  {{"metadata", {{"name", role}}},
                   {"spec",
                    {{"machineConfigSelector", {{"matchLabels", {{std::string(api::kRoleLabel), role}}}}},
                     {"nodeSelector", {{"matchLabels", {{std::string(api::kRoleLabelPrefix) + role, ""}}}}}}}});
    }
  }

  void RunUntil(const std::function<bool()>& is_so) {
    Controller controller(*loop_, ValueOf(kube::Client::Create(*loop_, server_.access())), clock_, settings_);
    controller_ = &controller;
    event::Timer look(
        *loop_,
        [&] {
          if (is_so()) return loop_->Stop();
          look.After(std::chrono::milliseconds(5));
        },
        std::chrono::milliseconds(1));
    look.After(std::chrono::milliseconds(0));
    EXPECT_TRUE(Succeeded(event::RunPatiently(*loop_)));
  }

  void PutConfig(const std::string& name, const std::string& role, const std::string& kernel_argument) {
    server_.Put(
        "machineconfigs",
        {{"metadata", {{"name", name}, {"labels", {{std::string(api::kRoleLabel), role}}}}},
         {"spec", {{"kernelArguments", {kernel_argument}}, {"config", {{"ignition", {{"version", "3.4.0"}}}}}}}});
  }
  // Adds a pool without nodes.
  void PutPool(const std::string& name, const std::string& role) {
    server_.Put("machineconfigpools",
                {{"metadata", {{"name", name}}},
                 {"spec", {{"machineConfigSelector", {{"matchLabels", {{std::string(api::kRoleLabel), role}}}}}}}});
  }

  void PutNode(const std::string& name, const std::string& pool, const std::string& config) {
    server_.Put("nodes", {{"metadata",
                           {{"name", name},
                            {"labels", {{std::string(api::kRoleLabelPrefix) + pool, ""}}},
                            {"annotations",
                             {{std::string(api::kCurrentConfigAnnotation), config},
                              {std::string(api::kDesiredConfigAnnotation), config},
                              {std::string(api::kStateAnnotation), std::string(api::kStateDone)}}}}},
                          {"spec", json::Value::object()},
                          {"status", {{"conditions", {{{"type", "Ready"}, {"status", "True"}}}}}}});
  }
  std::string DesiredBy(const std::string& node) {
    return server_.Find("nodes", node).TextAt({"metadata", "annotations", api::kDesiredConfigAnnotation});
  }

  std::string TargetOf(const std::string& pool) {
    return server_.Find("machineconfigpools", pool).TextAt({"spec", "configuration", "name"});
  }
  // Returns the message of the pool's condition of this type, or "" if the condition is not True.
  std::string MessageOf(const std::string& pool, const std::string& type) {
    const json::Value object = server_.Find("machineconfigpools", pool);
    for (const json::Value& condition : object["status"]["conditions"]) {
      if (condition["type"] == type && condition["status"] == "True") return condition["message"].text();
    }
    return "";
  }

  std::string TargetSince(const std::string& pool) {
    return server_.Find("machineconfigpools", pool).TextAt({"metadata", "annotations", api::kTargetSinceAnnotation});
  }

  // Runs until the pool infra has its first target, which has no time, and then another one.
  void ReplaceTargetOfInfra() {
    std::string first;
    RunUntil([&] {
      if (!first.empty()) return TargetOf("infra") != first;
      first = TargetOf("infra");
      if (first.empty()) return false;
      EXPECT_EQ(TargetSince("infra"), "");
      PutConfig("10-infra", "infra", "a=b");
      return false;
    });
  }

  ControllerSettings settings_ = {.identity = "test"};
  const Controller* controller_ = nullptr;  // Exists while RunUntil() runs.
  SmallApiServer server_;
  AdjustableClock clock_;
  std::unique_ptr<event::Loop> loop_ = ValueOf(event::Loop::Create());
};

// Each rendering has several copies of a config in memory.
TEST_F(ControllerTest, RendersForFourPoolsAtATime) {
  for (const char* pool : {"a", "b", "c", "d", "e", "f", "g", "h"}) PutPool(pool, "worker");
  std::mutex mutex;
  std::set<std::string> rendering;
  std::size_t most = 0;
  server_.Refuse([&](const kube::ReceivedRequest& request) -> std::optional<kube::Answer> {
    const std::lock_guard lock(mutex);
    const auto word_after = [](const std::string& text, const std::string& mark, const char* end) {
      const std::size_t begin = text.find(mark) + mark.size();
      return text.substr(begin, text.find_first_of(end, begin) - begin);
    };
    if (request.line.starts_with("POST " + kApi + "machineconfigs?")) {
      rendering.insert(word_after(request.body, "\"rendered-", "-"));
      most = std::max(most, rendering.size());
    }
    // The request that sets the target of a pool is the last one of a rendering.
    const std::string patching = "PATCH " + kApi + "machineconfigpools/";
    const bool is_of_status = request.line.find("/status") != std::string::npos;
    if (request.line.starts_with(patching) && !is_of_status) rendering.erase(word_after(request.line, patching, "? "));
    return std::nullopt;
  });
  RunUntil([&] { return TargetOf("h") != "" && TargetOf("worker") != ""; });
  EXPECT_GE(most, 1U);
  EXPECT_LE(most, 4U);
}

// A webhook may be silent about some configs.
TEST_F(ControllerTest, RendersForAPoolWhileTheServerIsSilentAboutFourOthers) {
  const std::string creation = "POST " + kApi + "machineconfigs?";
  for (const char* pool : {"a", "b", "c", "d"}) PutPool(pool, "worker");
  server_.Refuse([&](const kube::ReceivedRequest& request) -> std::optional<kube::Answer> {
    if (!request.line.starts_with(creation)) return std::nullopt;
    for (const std::string pool : {"a", "b", "c", "d"}) {
      if (request.body.find("\"rendered-" + pool + "-") == std::string::npos) continue;
      return kube::Answer{.ending = kube::Ending::kNever};
    }
    return std::nullopt;
  });
  RunUntil([&] {
    if (server_.CountOf(creation) == 4 && clock_.ahead == std::chrono::seconds(0)) {
      clock_.ahead = std::chrono::seconds(10);
      PutNode("n", "worker", "");  // The controller looks at the cluster again.
    }
    return TargetOf("infra") != "" && TargetOf("worker") != "";
  });
  EXPECT_EQ(TargetOf("a"), "");
}

TEST_F(ControllerTest, RendersForAPoolWhileTheInputsOfFourOthersChangeAllTheTime) {
  for (const char* pool : {"a", "b", "c", "d"}) PutPool(pool, "changing");
  int changes = 0;
  RunUntil([&] {
    PutConfig("10-changing", "changing", "change=" + std::to_string(++changes));
    return TargetOf("infra") != "" && TargetOf("worker") != "";
  });
}

TEST_F(ControllerTest, SetsAsideAPoolThatCannotBeReadAndGoesOnWithOtherPools) {
  json::Value pool = server_.Find("machineconfigpools", "infra");
  pool["spec"]["maxUnavailable"] = 5'000'000'000;
  server_.Put("machineconfigpools", pool);
  RunUntil([&] { return TargetOf("worker") != "" && MessageOf("infra", "RenderDegraded") != ""; });
  EXPECT_THAT(MessageOf("infra", "RenderDegraded"), HasSubstr("$.spec.maxUnavailable"));
  EXPECT_NE(MessageOf("infra", "Misconfigured"), "");
  EXPECT_EQ(TargetOf("infra"), "");
  EXPECT_LE(server_.CountOf("GET " + kApi + "machineconfigpools?limit"), 3U);
}

TEST_F(ControllerTest, MakesPoolsThatSelectAnyValueOfALabelInAClusterThatIsNotOpenShift) {
  const auto term = [&] {
    const json::Value pool = server_.Find("machineconfigpools", "master");
    return json::ToText(pool["spec"]["nodeSelector"]);
  };
  server_.Refuse("GET /apis/config.openshift.io/v1/schedulers",
                 SmallApiServer::Status(404, "NotFound", "the server could not find the requested resource"));
  RunUntil([&] { return !server_.Find("machineconfigpools", "master").is_null(); });
  EXPECT_EQ(term(), R"({"matchExpressions":[{"key":"node-role.kubernetes.io/master","operator":"Exists"}]})");
  server_.Refuse({});
  server_.Remove("machineconfigpools", "master");
  RunUntil([&] { return !server_.Find("machineconfigpools", "master").is_null(); });
  EXPECT_EQ(term(), R"({"matchLabels":{"node-role.kubernetes.io/master":""}})");
}

TEST_F(ControllerTest, RecordsForNoticesWhenATargetHasReplacedAnotherOne) {
  settings_.webhook = WebhookSettings{.url = ValueOf(net::Url::Parse("http://127.0.0.1:1/")), .key_file = "/nowhere"};
  ReplaceTargetOfInfra();
  EXPECT_TRUE(Succeeded(FromRfc3339(TargetSince("infra")))) << TargetSince("infra");
}

// The annotation would remain in a cluster that is given back to the Machine Config Operator.
TEST_F(ControllerTest, RecordsNoTimesOfTargetsWithoutAWebhook) {
  ReplaceTargetOfInfra();
  EXPECT_EQ(TargetSince("infra"), "");
}

TEST_F(ControllerTest, GoesOnWithOtherPoolsWhileTheServerIsSilentAboutOne) {
  PutNode("a", "worker", "rendered-worker-old");
  PutNode("b", "infra", "rendered-infra-old");
  const std::string update_of_a = "PATCH /api/v1/nodes/a";
  server_.Refuse(update_of_a, {.ending = kube::Ending::kNever});
  std::string first;
  RunUntil([&] {
    const std::string now = DesiredBy("b");
    if (!first.empty()) return now != first;
    if (server_.CountOf(update_of_a) == 0 || now != TargetOf("infra")) return false;
    // The node has reached its config; now the pool gets another config.
    first = now;
    PutNode("b", "infra", first);
    PutConfig("10-infra", "infra", "a=b");
    return false;
  });
  EXPECT_EQ(DesiredBy("a"), "rendered-worker-old");
  EXPECT_EQ(server_.CountOf(update_of_a), 1U);
}

TEST_F(ControllerTest, RendersAndReportsTheReasonIfItMayNotListNodes) {
  const kube::Answer forbidden = SmallApiServer::Status(403, "Forbidden", "nodes is forbidden: no such right");
  server_.Refuse("GET /api/v1/nodes?", forbidden);
  RunUntil([&] { return TargetOf("worker") != "" && MessageOf("worker", "Degraded") != ""; });
  EXPECT_THAT(MessageOf("worker", "Degraded"), HasSubstr("nodes is forbidden: no such right"));
  EXPECT_LE(server_.CountOf("GET /api/v1/nodes?"), 10U);
}

TEST_F(ControllerTest, ReportsTheReasonIfItMayNotListTheInputsOfConfigs) {
  server_.Refuse("GET " + kApi + "machineconfigs", SmallApiServer::Status(403, "Forbidden", "no such right"));
  RunUntil([&] { return MessageOf("infra", "Degraded") != "" && MessageOf("worker", "Degraded") != ""; });
  EXPECT_THAT(MessageOf("worker", "Degraded"), HasSubstr("no such right"));
  server_.Refuse({});
  RunUntil([&] { return TargetOf("worker") != "" && MessageOf("worker", "Degraded") == ""; });
}

TEST_F(ControllerTest, ReportsInTheClusterOperatorThatItCannotReadTheCluster) {
  settings_.namespace_name = "namespace";
  settings_.is_operator = true;
  PutSmallOpenShift(server_);
  server_.Put("clusteroperators",
              {{"metadata", {{"name", "machine-config"}}},
               {"status", {{"versions", json::Value::array({{{"name", "operator"}, {"version", "4.21.0"}}})}}}});
  const auto degraded = [&]() -> std::string {
    const json::Value object = server_.Find("clusteroperators", "machine-config");
    for (const json::Value& condition : object["status"]["conditions"]) {
      if (condition.TextAt({"type"}) == "Degraded" && condition.TextAt({"status"}) == "True") {
        return condition.TextAt({"reason"}) + ": " + condition.TextAt({"message"});
      }
    }
    return "";
  };
  const auto has = [&](const char* text) { return degraded().find(text) != std::string::npos; };
  const kube::Answer forbidden = SmallApiServer::Status(403, "Forbidden", "machineosbuilds is forbidden");
  server_.Refuse("GET " + kApi + "machineosbuilds", forbidden);
  bool has_dns = true;
  RunUntil([&] {
    if (has_dns && has("MachineConfigControllerFailed") && has("machineosbuilds is forbidden")) {
      server_.Remove("dnses", "cluster");
      has_dns = false;
    }
    return !has_dns && has("RenderConfigFailed") && has("there is no DNS");
  });
  // No MachineConfigNode or label is written for a cluster that is known in part only.
  EXPECT_EQ(server_.CountOf("POST " + kApi + "machineconfignodes"), 0U);
  server_.Refuse({});
  server_.Put("dnses", SmallSetting(R"({"baseDomain": "a.example"})", "{}"));
  RunUntil([&] { return degraded().empty(); });
}

TEST_F(ControllerTest, RemovesNoConfigThatIsAboutToBecomeATarget) {
  settings_.kept_configs = 0;
  for (const std::string pool : {"infra", "worker"}) {
    json::Value object = server_.Find("machineconfigpools", pool);
    object["metadata"]["annotations"][std::string(kKeptUntilAnnotation)] = "2020-01-01T00:00:00Z";
    server_.Put("machineconfigpools", object);
  }
  // The config of the pool infra is created, and the write that makes it the target gets no answer.
  const std::string target = "PATCH " + kApi + "machineconfigpools/infra?";
  server_.Refuse(target, {.ending = kube::Ending::kNever});
  const std::string uid = server_.Find("machineconfigpools", "worker").TextAt({"metadata", "uid"});
  bool has_garbage = false;
  RunUntil([&] {
    if (!has_garbage && server_.CountOf(target) > 0 && TargetOf("worker") != "") {
      server_.Put("machineconfigs",
                  {{"metadata",
                    {{"name", "rendered-worker-unneeded"},
                     {"ownerReferences",
                      {{{"apiVersion", "v1"}, {"kind", "MachineConfigPool"}, {"name", "worker"}, {"uid", uid}}}}}},
                   {"spec", {{"config", {{"ignition", {{"version", "3.4.0"}}}}}}}});
      has_garbage = true;
    }
    return has_garbage && server_.Find("machineconfigs", "rendered-worker-unneeded").is_null();
  });
  EXPECT_EQ(server_.CountOf("DELETE " + kApi + "machineconfigs/rendered-infra"), 0U);
}

TEST_F(ControllerTest, ReportsThatItGeneratesNothingWithoutTemplates) {
  std::string states;
  RunUntil([&] {
    states.clear();
    for (const SubControllerState& state : controller_->CurrentMetrics().sub_controllers) {
      states += state.sub_controller + " " + state.state + "\n";
    }
    return !states.empty();
  });
  EXPECT_THAT(states, HasSubstr("machine-config-controller-template No templates\n"));
}

// A ControllerConfig without a status: no config has been made from the templates yet.
class ControllerWithTemplatesTest : public ControllerTest {
 protected:
  ControllerWithTemplatesTest() {
    for (const std::string role : {"infra", "worker"}) server_.Remove("machineconfigs", "00-" + role);
    PutTemplateInputs(server_, {{std::string(api::kGeneratedByVersionAnnotation), "4.20"}});
    server_.Put("machineconfigs",
                {{"metadata", {{"name", "99-worker-ssh"}, {"labels", {{std::string(api::kRoleLabel), "worker"}}}}},
                 {"spec", {{"config", {{"ignition", {{"version", "3.4.0"}}}}}}}});
    settings_.templates = templates_.path();
  }

  void AddTemplate() {
    const std::filesystem::path folder = std::filesystem::path(templates_.path()) / "worker/00-worker/_base/files";
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "role.yaml") << "path: /etc/role\ncontents: {inline: x}\n";
  }
  // Returns the names of the configs from which the pool's target was rendered.
  std::vector<std::string> SourcesOf(const std::string& pool) {
    const json::Value object = server_.Find("machineconfigpools", pool);
    std::vector<std::string> names;
    for (const json::Value& source : object["spec"]["configuration"]["source"]) {
      names.push_back(source["name"].text());
    }
    return names;
  }

  TemporaryDirectory templates_;
};

TEST_F(ControllerWithTemplatesTest, RendersNothingBeforeTheConfigsOfTheTemplatesExist) {
  AddTemplate();
  RunUntil([&] { return TargetOf("worker") != ""; });
  EXPECT_THAT(SourcesOf("worker"), ElementsAre("00-worker", "99-worker-ssh"));
}

TEST_F(ControllerWithTemplatesTest, RendersNothingWhileTheObjectsOfTheConfigsHaveNotBeenRead) {
  AddTemplate();
  std::atomic<int> refusals = 0;
  server_.Refuse([&refusals](const kube::ReceivedRequest& request) -> std::optional<kube::Answer> {
    if (!request.line.starts_with("GET " + kApi + "kubeletconfigs") || refusals == 2) return std::nullopt;
    ++refusals;
    return SmallApiServer::Status(500, "InternalError", "the store is broken");
  });
  RunUntil([&] { return TargetOf("worker") != ""; });
  EXPECT_EQ(refusals, 2);
  EXPECT_THAT(SourcesOf("worker"), ElementsAre("00-worker", "99-worker-ssh"));
}

TEST_F(ControllerWithTemplatesTest, ReportsInAllPoolsWhyNothingIsRendered) {
  AddTemplate();
  server_.Refuse("GET /apis/config.openshift.io/v1/imagepolicies",
                 SmallApiServer::Status(403, "Forbidden", "imagepolicies is forbidden"));
  RunUntil([&] { return MessageOf("infra", "RenderDegraded") != "" && MessageOf("worker", "RenderDegraded") != ""; });
  EXPECT_THAT(
      MessageOf("worker", "RenderDegraded"),
      testing::AllOf(testing::StartsWith("Failed to render configuration for pool worker: listing imagepolicies"),
                     HasSubstr("imagepolicies is forbidden")));
  EXPECT_EQ(TargetOf("worker"), "");
  server_.Refuse({});
  RunUntil([&] { return TargetOf("worker") != "" && MessageOf("worker", "RenderDegraded") == ""; });
}

TEST_F(ControllerWithTemplatesTest, ReportsInTheClusterOperatorThatConfigsCannotBeMade) {
  AddTemplate();
  settings_.namespace_name = "namespace";
  settings_.is_operator = true;
  PutSmallOpenShift(server_);
  json::Value gates = json::Value::array();
  for (const char* version : {"4.1", "4.2"}) gates.push_back({{"version", version}});
  server_.Put("featuregates", {{"metadata", {{"name", "cluster"}}}, {"status", {{"featureGates", std::move(gates)}}}});
  std::string message;
  RunUntil([&] {
    const json::Value object = server_.Find("clusteroperators", "machine-config");
    for (const json::Value& condition : object["status"]["conditions"]) {
      if (condition.TextAt({"type"}) == "Degraded" && condition.TextAt({"status"}) == "True") {
        message = condition.TextAt({"message"});
      }
    }
    return message.find("reading the feature gates") != std::string::npos;
  });
  EXPECT_THAT(message, HasSubstr("unable to determine features"));
}

TEST_F(ControllerWithTemplatesTest, RendersTheConfigsOfOthersIfThereAreNoTemplates) {
  RunUntil([&] { return TargetOf("worker") != ""; });
  EXPECT_THAT(SourcesOf("worker"), ElementsAre("99-worker-ssh"));
}

TEST_F(ControllerTest, RendersAndReportsTheReasonIfListingNodesKeepsFailing) {
  server_.Refuse("GET /api/v1/nodes?", SmallApiServer::Status(500, "InternalError", "the store is broken"));
  RunUntil([&] { return TargetOf("worker") != "" && MessageOf("worker", "Degraded") != ""; });
  EXPECT_THAT(MessageOf("worker", "Degraded"), HasSubstr("the store is broken"));
  EXPECT_EQ(server_.CountOf("GET /api/v1/nodes?"), 3U);
}

TEST_F(ControllerTest, ReportsThatItWaitsWhileAnotherProgramHoldsTheLease) {
  settings_.lease.retry = std::chrono::milliseconds(5);
  const auto put_lease_of = [&](const std::string& holder) {
    server_.Put("leases", {{"metadata", {{"name", "machine-config-controller"}}},
                           {"spec", {{"holderIdentity", holder}, {"leaseDurationSeconds", 900}}}});
  };
  const std::string read =
      "GET /apis/coordination.k8s.io/v1/namespaces/openshift-machine-config-operator/leases/machine-config-controller";
  put_lease_of("pintle-controller_another-replica");
  bool waits = true;
  RunUntil([&] {
    waits = controller_->CurrentMetrics().other_program_leads;
    return server_.CountOf(read) > 2;
  });
  EXPECT_FALSE(waits);
  put_lease_of("machine-config-controller-1_operator");
  RunUntil([&] { return controller_->CurrentMetrics().other_program_leads; });
}

TEST_F(ControllerTest, ReleasesTheLeaseOfTheOperatorWhenItLosesItsOwn) {
  settings_.namespace_name = "namespace";
  settings_.is_operator = true;
  settings_.lease.retry = std::chrono::milliseconds(5);
  PutSmallOpenShift(server_);
  const auto holder = [&] { return server_.Find("leases", "machine-config").TextAt({"spec", "holderIdentity"}); };
  bool has_lost = false;
  RunUntil([&] {
    if (!has_lost && holder() == settings_.identity) {
      server_.Put("leases", {{"metadata", {{"name", "machine-config-controller"}}},
                             {"spec", {{"holderIdentity", "another"}, {"leaseDurationSeconds", 900}}}});
      has_lost = true;
    }
    return has_lost && holder().empty();
  });
  EXPECT_EQ(server_.Find("leases", "machine-config-controller").TextAt({"spec", "holderIdentity"}), "another");
}

TEST_F(ControllerTest, GivesNewMachinesATokenIfTheServerAsksForOne) {
  const TemporaryDirectory folder;
  settings_.namespace_name = "namespace";
  settings_.is_operator = true;
  settings_.token_keys_file = (folder / "keys").string();
  std::ofstream(settings_.token_keys_file) << std::string(32, 'k') << "\n";
  std::filesystem::permissions(settings_.token_keys_file, std::filesystem::perms::owner_read);
  PutSmallOpenShift(server_);
  json::Value pointer;
  RunUntil([&] {
    const std::string data = server_.Find("secrets", "worker-user-data-managed").TextAt({"data", "userData"});
    auto read = json::Parse(DecodeBase64(data).value_or(""));
    if (read) pointer = *std::move(read);
    return !pointer.is_null();
  });
  EXPECT_NE(clusterops::TokenIn(pointer), "");
}

}  // namespace
}  // namespace pintle::controller
