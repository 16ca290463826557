// SPDX-License-Identifier: Apache-2.0
#include "controller/takeover_rights.h"

#include <gmock/gmock.h>

#include <fstream>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "json/parse.h"
#include "machineconfig/yaml.h"
#include "support/expect.h"

namespace pintle::controller {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> TextsOf(const json::Value& list) {
  std::vector<std::string> texts;
  for (const json::Value& element : list) texts.push_back(element.text());
  return texts;
}

// Returns the rights that the roles in a file of deploy/ give.
std::set<Right> RightsInFile(const std::string& name) {
  std::ostringstream text;
  text << std::ifstream(DEPLOY + ("/" + name)).rdbuf();
  std::set<Right> rights;
  for (const json::Value& role : ValueOf(machineconfig::ParseYaml(text.str()))) {
    for (const json::Value& rule : role["rules"]) {
      std::vector<std::string> names = TextsOf(rule["resourceNames"]);
      if (names.empty()) names.emplace_back();
      for (const std::string& group : TextsOf(rule["apiGroups"])) {
        for (const std::string& resource : TextsOf(rule["resources"])) {
          for (const std::string& verb : TextsOf(rule["verbs"])) {
            for (const std::string& resource_name : names) {
              rights.insert(Right{verb, group, resource, role.TextAt({"metadata", "namespace"}), resource_name});
            }
          }
        }
      }
    }
  }
  return rights;
}

TEST(RightsOfAccount, AreExactlyThoseOfTheFiles) {
  const std::vector<RightsFile> files = RightsOfAccount({});
  EXPECT_EQ(files.size(), 3U);
  for (const RightsFile& file : files) {
    const std::set<Right> in_file = RightsInFile("openshift/" + file.file);
    EXPECT_FALSE(in_file.empty()) << file.file;
    const std::set<Right> known(file.rights.begin(), file.rights.end());
    for (const Right& right : in_file) EXPECT_TRUE(known.contains(right)) << file.file << ": " << RightInWords(right);
    for (const Right& right : known) {
      EXPECT_TRUE(in_file.contains(right)) << file.file << " lacks: " << RightInWords(right);
    }
  }
}

TEST(RightsOfAgent, AreThoseOfTheFileAndThoseOfAKubelet) {
  std::set<Right> known;
  for (Right right : RightsOfAgent("n", {})) {
    // The file has a ClusterRole, whose rights name no namespace.  The agent reads this object in one namespace only.
    if (right.resource == "configmaps") right.namespace_name = "";
    known.insert(right);
  }
  const std::set<Right> in_file = RightsInFile("agent/rbac.yaml");
  EXPECT_FALSE(in_file.empty());
  for (Right right : in_file) {
    if (right.verb == "create") right.name = "";
    EXPECT_TRUE(known.erase(right) == 1) << RightInWords(right);
  }
  std::vector<std::string> rights_in_words;
  for (const Right& right : known) rights_in_words.push_back(RightInWords(right));
  EXPECT_THAT(rights_in_words, testing::UnorderedElementsAre("create events in the namespace default", "get nodes n",
                                                             "list nodes n", "watch nodes n", "patch nodes n"));
}

TEST(RightsForTakeover, AreInTheNamespacesOfTheSettings) {
  const std::vector<Right> rights = RightsForTakeover({.namespace_name = "theirs", .own_namespace = "ours"});
  EXPECT_THAT(rights, testing::Contains(Right{"patch", "apps", "deployments", "theirs", "machine-config-operator"}));
  EXPECT_THAT(rights, testing::Contains(Right{"create", "", "configmaps", "ours", ""}));
}

TEST(RightsForTakeover, IncludeTheServersOnlyIfItIsHandedOver) {
  const Right right = {"patch", "apps", "daemonsets", "openshift-machine-config-operator", "machine-config-server"};
  EXPECT_THAT(RightsForTakeover({}), testing::Not(testing::Contains(right)));
  EXPECT_THAT(RightsForTakeover({.with_server = true}), testing::Contains(right));
}

TEST(ReviewOf, AsksForTheCallerOrForAnAccount) {
  const Right right = {"patch", "config.openshift.io", "clusteroperators/status", "", "machine-config"};
  EXPECT_EQ(ReviewOf(right, std::nullopt),
            ValueOf(json::Parse(R"({"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
                "spec": {"resourceAttributes": {"verb": "patch", "group": "config.openshift.io",
                "resource": "clusteroperators", "subresource": "status", "namespace": "",
                "name": "machine-config"}}})")));
  const json::Value review = ReviewOf(right, HolderOfAccount({"pintle", "a"}));
  EXPECT_EQ(review.TextAt({"kind"}), "SubjectAccessReview");
  EXPECT_EQ(review.TextAt({"spec", "user"}), "system:serviceaccount:pintle:a");
  EXPECT_EQ(ReviewOf(right, HolderOnNode("n"))["spec"]["groups"], ValueOf(json::Parse(R"(["system:nodes",
                                                                    "system:authenticated"])")));
}

TEST(FindingsAbout, NameTheRightAndTheFileThatGivesIt) {
  const Right of_caller = {"patch", "apps", "deployments", "n", "d"};
  const RightsFile complete = {"a.yaml", {}};
  const RightsFile incomplete = {"b.yaml",
                                 {Right{"list", "", "secrets", "n", ""}, Right{"watch", "", "secrets", "n", ""}}};
  const auto findings = FindingsAbout({of_caller}, {complete, incomplete}, {{.node = "n", .rights = {of_caller}}}, {});
  std::vector<std::string> texts;
  for (const TakeoverFinding& finding : findings) {
    EXPECT_EQ(finding.weight, Weight::kObstacle);
    texts.push_back(finding.text);
  }
  EXPECT_THAT(texts, ElementsAre("you may not patch deployments.apps d in the namespace n; use an administrator's "
                                 "kubeconfig, or get this right",
                                 "Pintle's account pintle/pintle-controller may not list secrets in the namespace n "
                                 "(and lacks 1 more right); apply deploy/openshift/b.yaml",
                                 "the agent on the node n may not patch deployments.apps d in the namespace n; apply "
                                 "deploy/agent/rbac.yaml"));
  EXPECT_THAT(FindingsAbout({}, {complete}, {{.node = "n", .rights = {}}}, {}), IsEmpty());
}

}  // namespace
}  // namespace pintle::controller
