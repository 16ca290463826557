// SPDX-License-Identifier: Apache-2.0
#include "controller/trial_cluster.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "json/parse.h"
#include "machineconfig/objects.h"

namespace pintle::controller {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kControllerConfig =
    R"({"kind":"ControllerConfig","metadata":{"name":"machine-config-controller","uid":"cc"},"spec":{)"
    R"("clusterDNSIP":"10.0.0.10","infra":{"status":{"platformStatus":{"type":"None"}}},)"
    R"("pullSecret":{"namespace":"n","name":"s"}}})";
constexpr const char* kSecret =
    R"({"kind":"Secret","metadata":{"namespace":"n","name":"s"},"type":"kubernetes.io/dockerconfigjson",)"
    R"("data":{".dockerconfigjson":"eyJhdXRocyI6e319"}})";
constexpr const char* kPool =
    R"({"kind":"MachineConfigPool","metadata":{"name":"worker","labels":{"pool":"worker"}},"spec":{)"
    R"("machineConfigSelector":{"matchLabels":{"machineconfiguration.openshift.io/role":"worker"}}}})";

json::Value Kubelet(const std::string& spec) {
  return *json::Parse(R"({"kind":"KubeletConfig","metadata":{"name":"k","uid":"k-uid","generation":1},"spec":{)"
                      R"("machineConfigPoolSelector":{"matchLabels":{"pool":"worker"}},)" +
                      spec + "}}");
}

// A cluster with the pool `worker`, whose templates have a kubelet.conf.
class Trial : public testing::Test {
 protected:
  Trial() {
    for (const char* object : {kControllerConfig, kSecret, kPool}) cluster_.Put(*json::Parse(object));
    templates_.Add("worker/00-worker/_base/files/kubelet",
                   "path: /etc/kubernetes/kubelet.conf\nmode: 0644\ncontents:\n  inline: |\n"
                   "    kind: KubeletConfiguration\n    maxPods: 250\n");
  }

  // Returns the names of the configs that are made.
  std::vector<std::string> Settle(const generated::TemplateFolder* templates,
                                  const generated::MadeFromFilter& only = {}) {
    const auto outcome = cluster_.Settle(
        {.templates = templates, .versions = {.controller = "HASH", .operator_version = ""}, .now = {}, .only = only});
    EXPECT_TRUE(outcome) << outcome.error().message();
    std::vector<std::string> names;
    if (!outcome) return names;
    problems_ = outcome->problems;
    for (const TrialOutcome::Config& made : outcome->configs) names.push_back(made.config.name);
    return names;
  }
  std::vector<std::string> Settle() { return Settle(&templates_); }

  // Returns the text of a config in the cluster, or "".
  std::string ConfigText(const std::string& name) const {
    const json::Value* const config = cluster_.Find("MachineConfig", "", name);
    return config == nullptr ? "" : json::ToText(*config);
  }

  TrialCluster cluster_;
  generated::TemplateFolder templates_{"t"};
  std::vector<GenerateProblem> problems_;
};

TEST_F(Trial, MakesTheConfigsOfTemplatesAndOfObjectsAndWritesThem) {
  cluster_.Put(Kubelet(R"("kubeletConfig":{"maxPods":9})"));
  EXPECT_THAT(Settle(), ElementsAre("00-worker", "99-worker-generated-kubelet"));
  EXPECT_THAT(problems_, IsEmpty());
  EXPECT_THAT(cluster_.Problems(), IsEmpty());
  EXPECT_THAT(ConfigText("99-worker-generated-kubelet"), HasSubstr("\"uid\":\"k-uid\""));
  EXPECT_EQ(json::ToText(cluster_.At("KubeletConfig", "", "k")["metadata"]["finalizers"]),
            R"(["99-worker-generated-kubelet"])");
}

TEST_F(Trial, ReportsConfigsAlsoIfTheyAreInTheClusterAlready) {
  const std::vector<std::string> first = Settle();
  EXPECT_EQ(Settle(), first);
}

TEST_F(Trial, MakesOnlyTheChosenConfigs) {
  cluster_.Put(Kubelet(R"("kubeletConfig":{"maxPods":9})"));
  EXPECT_THAT(Settle(&templates_, {{MadeFrom::kKubeletConfigs}}), ElementsAre("99-worker-generated-kubelet"));
  EXPECT_THAT(Settle(&templates_, {{MadeFrom::kTemplates}}), ElementsAre("00-worker"));
  EXPECT_THAT(Settle(&templates_, {{MadeFrom::kRuntimeConfigs}}), IsEmpty());
}

TEST_F(Trial, ReportsWhyAnObjectIsRefusedAndMakesTheOtherConfigs) {
  cluster_.Put(Kubelet(R"("logLevel":11)"));
  EXPECT_THAT(Settle(), ElementsAre("00-worker"));
  const auto problems = cluster_.Problems();
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].kind + " " + problems[0].name, "KubeletConfig k");
  EXPECT_EQ(problems[0].message, "Error: KubeletConfig's LogLevel is not valid [0,10]: 11");
}

TEST_F(Trial, ReportsWhyTemplatesFail) {
  templates_.Add("worker/00-worker/_base/files/broken", "{{.NoSuchField}}");
  EXPECT_THAT(Settle(), IsEmpty());
  const auto problems = cluster_.Problems();
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].kind, "ControllerConfig");
  EXPECT_THAT(problems[0].message, HasSubstr("t/worker/00-worker/_base/files/broken:1:2"));
}

// If both configs of the same name were written, each pass would find the other one changed, and write it again.
TEST_F(Trial, EndsAlsoWithTwoConfigsOfTheSameName) {
  templates_.Add("infra/README", "a role that has no templates of its own");
  EXPECT_THAT(Settle(), ElementsAre("00-worker", "00-worker"));
  EXPECT_THAT(ConfigText("00-worker"), HasSubstr(R"("machineconfiguration.openshift.io/role":"worker")"));
}

TEST_F(Trial, TakesTheConfigsOfTemplatesFromTheClusterIfThereIsNoFolder) {
  Settle();
  cluster_.Put(Kubelet(R"("kubeletConfig":{"maxPods":9})"));
  EXPECT_THAT(Settle(nullptr), ElementsAre("99-worker-generated-kubelet"));
  EXPECT_THAT(cluster_.Problems(), IsEmpty());
  const json::Value without_folder = cluster_.At("MachineConfig", "", "99-worker-generated-kubelet")["spec"];
  cluster_.Remove("MachineConfig", "99-worker-generated-kubelet");
  Settle();
  EXPECT_EQ(cluster_.At("MachineConfig", "", "99-worker-generated-kubelet")["spec"], without_folder);
}

TEST_F(Trial, ReportsThatTheClusterHasNoConfigsOfTemplates) {
  cluster_.Put(Kubelet(R"("kubeletConfig":{"maxPods":9})"));
  EXPECT_THAT(Settle(nullptr), IsEmpty());
  const auto problems = cluster_.Problems();
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_THAT(problems[0].message, HasSubstr("no MachineConfigs of the role worker"));
}

TEST_F(Trial, AMergePatchSetsAndRemovesMembers) {
  cluster_.Patch("MachineConfigPool", "", "worker",
                 *json::Parse(R"({"metadata":{"labels":{"pool":null,"new":"yes"}},"spec":{"paused":true}})"));
  const json::Value& pool = cluster_.At("MachineConfigPool", "", "worker");
  EXPECT_EQ(json::ToText(pool["metadata"]["labels"]), R"({"new":"yes"})");
  EXPECT_TRUE(pool["spec"]["paused"].boolean());
  EXPECT_TRUE(pool["spec"].contains("machineConfigSelector"));
}

TEST(FindTrialKind, DistinguishesKindsOfTheSameNameByTheirGroups) {
  const auto kind_of = [](const char* text) { return FindTrialKind(*json::Parse(text)); };
  ASSERT_NE(kind_of(R"({"apiVersion":"config.openshift.io/v1","kind":"Node"})"), nullptr);
  EXPECT_EQ(kind_of(R"({"apiVersion":"v1","kind":"Node"})"), nullptr);
  EXPECT_EQ(kind_of(R"({"apiVersion":"image.openshift.io/v1","kind":"Image"})"), nullptr);
  EXPECT_NE(kind_of(R"({"kind":"KubeletConfig"})"), nullptr);
  EXPECT_EQ(kind_of(R"({"kind":"Namespace"})"), nullptr);
}

TEST(FindTrialKind, ChecksThatAnObjectCanBeRead) {
  const json::Value wrong = Kubelet(R"("logLevel":"loud")");
  const Result<> checked = FindTrialKind(wrong)->check(wrong);
  ASSERT_FALSE(checked);
  EXPECT_THAT(checked.error().message(), HasSubstr("$.spec.logLevel"));
}

}  // namespace
}  // namespace pintle::controller
