// SPDX-License-Identifier: Apache-2.0
#include "controller/takeover_generated.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "controller/trial_cluster.h"
#include "json/parse.h"
#include "support/expect.h"

namespace pintle::controller {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kMotd = "path: /etc/motd\nmode: 0644\ncontents:\n  inline: ";

// A cluster in which everything is generated from `templates_`.
class GeneratedTest : public testing::Test {
 protected:
  GeneratedTest() {
    for (const char* object : {
             R"({"kind":"ControllerConfig","metadata":{"name":"machine-config-controller","uid":"cc"},"spec":{
                 "infra":{"status":{"platformStatus":{"type":"None"}}},"pullSecret":{"namespace":"n","name":"s"}}})",
             R"({"kind":"Secret","metadata":{"namespace":"n","name":"s"},"type":"kubernetes.io/dockerconfigjson",
                 "data":{".dockerconfigjson":"eyJhdXRocyI6e319"}})",
             R"({"kind":"MachineConfigPool","metadata":{"name":"worker","labels":{"pool":"worker"}},"spec":{
                 "machineConfigSelector":{"matchLabels":{"machineconfiguration.openshift.io/role":"worker"}}}})",
             R"({"kind":"KubeletConfig","metadata":{"name":"k","uid":"k-uid","generation":1},"spec":{
                 "machineConfigPoolSelector":{"matchLabels":{"pool":"worker"}},"kubeletConfig":{"maxPods":9}}})"}) {
      cluster_.Put(ValueOf(json::Parse(object)));
    }
    AddBase(templates_);
    templates_.Add("worker/00-worker/_base/files/motd", kMotd + std::string("hello\n"));
    const auto settled = cluster_.Settle(
        {.templates = &templates_, .versions = {.controller = "HASH", .operator_version = ""}, .now = {}});
    EXPECT_TRUE(Succeeded(settled));
  }

  static void AddBase(generated::TemplateFolder& templates) {
    templates.Add("worker/00-worker/_base/files/kubelet",
                  "path: /etc/kubernetes/kubelet.conf\nmode: 0644\ncontents:\n  inline: |\n"
                  "    kind: KubeletConfiguration\n    maxPods: 250\n");
  }

  std::vector<std::string> Compare(const generated::TemplateFolder& templates, Weight weight = Weight::kObstacle) {
    const TrialObjects objects = cluster_.Look();
    std::vector<std::string> texts;
    for (const TakeoverFinding& finding : CompareGenerated(objects.view, objects.sources, templates, {})) {
      if (finding.weight == weight) texts.push_back(finding.text);
    }
    return texts;
  }

  TrialCluster cluster_;
  generated::TemplateFolder templates_{"t"};
};

TEST_F(GeneratedTest, NothingDiffersIfTheTemplatesAreThoseOfTheCluster) {
  EXPECT_THAT(Compare(templates_), IsEmpty());
  EXPECT_THAT(Compare(templates_, Weight::kLoss), IsEmpty());
}

TEST_F(GeneratedTest, AFileWithOtherContentsIsNamedWithItsConfigAndWithoutItsContents) {
  generated::TemplateFolder other_templates("others");
  AddBase(other_templates);
  other_templates.Add("worker/00-worker/_base/files/motd", kMotd + std::string("another-text\n"));
  EXPECT_THAT(Compare(other_templates), ElementsAre("MachineConfig 00-worker would change at "
                                                    "spec.config.storage.files[/etc/motd].contents.source"));
}

TEST_F(GeneratedTest, AFileThatIsMadeInAdditionIsNamed) {
  generated::TemplateFolder other_templates("others");
  AddBase(other_templates);
  other_templates.Add("worker/00-worker/_base/files/motd", kMotd + std::string("hello\n"));
  other_templates.Add("worker/00-worker/_base/files/zone", "path: /etc/zone\nmode: 0644\ncontents:\n  inline: b\n");
  EXPECT_THAT(Compare(other_templates),
              ElementsAre("MachineConfig 00-worker would change at spec.config.storage.files[/etc/zone]"));
}

TEST_F(GeneratedTest, ManyPlacesAreCounted) {
  generated::TemplateFolder other_templates("others");
  AddBase(other_templates);
  other_templates.Add("worker/00-worker/_base/files/motd", kMotd + std::string("hello\n"));
  for (const char c : std::string("abcdefgh")) {
    const std::string name(1, c);
    other_templates.Add("worker/00-worker/_base/files/" + name,
                        "path: /etc/" + name + "\nmode: 0644\ncontents:\n  inline: b\n");
  }
  EXPECT_THAT(Compare(other_templates), ElementsAre(HasSubstr(" and 3 more")));
}

TEST_F(GeneratedTest, AConfigThatWouldBeCreatedIsAnObstacle) {
  cluster_.Remove("MachineConfig", "99-worker-generated-kubelet");
  EXPECT_THAT(Compare(templates_), ElementsAre("MachineConfig 99-worker-generated-kubelet would be created"));
}

TEST_F(GeneratedTest, AConfigThatWouldBeRemovedIsAnObstacle) {
  cluster_.Remove("KubeletConfig", "k");
  // Only a config of another build is removed without its source.
  cluster_.At("MachineConfig", "",
              "99-worker-generated-kubelet")["metadata"]["annotations"]
                                            ["machineconfiguration.openshift.io/generated-by-controller-version"] =
      "OTHER";
  EXPECT_THAT(Compare(templates_), ElementsAre("MachineConfig 99-worker-generated-kubelet would be removed"));
}

TEST_F(GeneratedTest, AnObjectWithoutItsConfigsIsAnObstacle) {
  cluster_.At("KubeletConfig", "", "k")["metadata"].Erase("finalizers");
  EXPECT_THAT(Compare(templates_), ElementsAre(HasSubstr("KubeletConfig k does not have all its configs yet")));
}

TEST_F(GeneratedTest, AnObjectThatWouldBeRefusedIsAnObstacle) {
  cluster_.At("KubeletConfig", "", "k")["spec"]["logLevel"] = 11;
  EXPECT_THAT(Compare(templates_), ElementsAre(HasSubstr("KubeletConfig k would be refused: Error: KubeletConfig's "
                                                         "LogLevel is not valid")));
}

TEST_F(GeneratedTest, AConfigWhoseOwnersAloneDifferChangesNoNode) {
  cluster_.At("MachineConfig", "", "99-worker-generated-kubelet")["metadata"].Erase("ownerReferences");
  EXPECT_THAT(Compare(templates_), IsEmpty());
  EXPECT_THAT(Compare(templates_, Weight::kLoss), ElementsAre(HasSubstr("without a change for any node")));
}

TEST_F(GeneratedTest, AChangeOfALabelByWhichPoolsSelectIsAnObstacle) {
  cluster_.At("MachineConfig", "", "99-worker-generated-kubelet")["metadata"].Erase("labels");
  EXPECT_THAT(Compare(templates_), ElementsAre(HasSubstr("metadata.labels")));
}

TEST_F(GeneratedTest, AConfigThatPintleDoesNotMakeIsALoss) {
  cluster_.Put(ValueOf(json::Parse(R"({"kind":"MachineConfig","metadata":{"name":"02-others","annotations":{
      "machineconfiguration.openshift.io/generated-by-controller-version":"HASH"}},"spec":{}})")));
  EXPECT_THAT(Compare(templates_), IsEmpty());
  EXPECT_THAT(Compare(templates_, Weight::kLoss), ElementsAre(HasSubstr("MachineConfig 02-others: Pintle does not")));
}

TEST_F(GeneratedTest, AnEmptyFolderComparesNothing) {
  const generated::TemplateFolder none("none");
  EXPECT_THAT(Compare(none), testing::Contains(HasSubstr("no config was made from the folder of --templates")));
}

}  // namespace
}  // namespace pintle::controller
