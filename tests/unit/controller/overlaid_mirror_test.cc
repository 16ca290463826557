// SPDX-License-Identifier: Apache-2.0
#include "controller/overlaid_mirror.h"

#include <cstdlib>
#include <memory>
#include <string>

#include "api/pod.h"
#include "controller/watched.h"
#include "controller/write_answers.h"
#include "event/loop.h"
#include "kube/any_object.h"
#include "support/expect.h"
#include "unit/controller/small_api_server.h"
#include "unit/event/patience.h"

namespace pintle::controller {
namespace {

api::Node NodeOf(const std::string& version, const std::string& state) {
  api::Node node;
  node.metadata.name = "a";
  node.metadata.resource_version = version;
  node.metadata.annotations.emplace("machineconfiguration.openshift.io/state", state);
  return node;
}

TEST(HasSameContent, IgnoresTheVersion) {
  EXPECT_TRUE(HasSameContent(NodeOf("1", "Done"), NodeOf("2", "Done")));
  EXPECT_FALSE(HasSameContent(NodeOf("1", "Done"), NodeOf("2", "Working")));
}

TEST(WriteAnswers, CountUntilTheMirrorHasThem) {
  using Node = kube::ObjectOf<api::Node>;
  WriteAnswers answers;
  const Node stale(NodeOf("9", "Done"));
  answers.Put(std::make_unique<Node>(NodeOf("10", "Working")));
  EXPECT_EQ(answers.LatestOf(stale).metadata().resource_version, "10");
  answers.Mirrored(stale);
  EXPECT_EQ(answers.LatestOf(stale).metadata().resource_version, "10");
  const Node later(NodeOf("11", "Done"));
  answers.Mirrored(later);
  EXPECT_EQ(answers.LatestOf(later).metadata().resource_version, "11");
}

TEST(PausesWhileMissing, AreSecondsForAKindThatAnAdministratorMayAddAtAnyTime) {
  const auto pause_after_ten_failures = [](Need need) {
    kube::Backoff backoff(PausesWhileMissing(need), [] { return 0.999; });
    for (int failures = 0; failures < 10; ++failures) backoff.Next();
    return backoff.Next();
  };
  EXPECT_LE(pause_after_ten_failures(Need::kIfInstalled), std::chrono::seconds(13));
  // All other kinds are the cluster's own, and there are many of them.
  EXPECT_GE(pause_after_ten_failures(Need::kIfServed), std::chrono::minutes(5));
}

TEST(OverlaidMirror, HasTheAnswersAboutObjectsOfAllNamespaces) {
  ::setenv("no_proxy", "*", 1);
  const std::unique_ptr<event::Loop> loop = ValueOf(event::Loop::Create());
  SmallApiServer server;
  server.Put("pods", {{"metadata", {{"name", "a"}, {"namespace", "one"}}}, {"spec", {{"nodeName", "before"}}}});
  kube::Client client = ValueOf(kube::Client::Create(*loop, server.access()));
  OverlaidMirror<api::Pod> pods(client, Need::kAlways,
                                {.changed = [&] { loop->Stop(); }, .trouble = [](const Error&) {}});
  EXPECT_TRUE(Succeeded(event::RunPatiently(*loop)));
  const auto nodes = [&] {
    std::string names;
    pods.ForEach([&](const api::Pod& pod) { names += pod.spec.node_name; });
    return names;
  };
  EXPECT_EQ(nodes(), "before");
  api::Pod answer;
  answer.metadata.name = "a";
  answer.metadata.namespace_name = "two";
  answer.metadata.resource_version = "1000";
  answer.spec.node_name = "after";
  pods.StoreAnswer(answer);
  EXPECT_EQ(nodes(), "before") << "the answer is about another pod";
  answer.metadata.namespace_name = "one";
  pods.StoreAnswer(answer);
  EXPECT_EQ(nodes(), "after");
}

TEST(Trim, KeepsOnlyOurOwnAnnotationsOfANode) {
  json::Value document = {{"metadata",
                           {{"name", "a"},
                            {"annotations",
                             {{"machineconfiguration.openshift.io/state", "Done"},
                              {"pintle.io/keep-cordoned", ""},
                              {"k8s.ovn.org/node-subnets", "10.0.0.0/23"}}}}}};
  const auto node = ValueOf(kube::Decode<WatchedNode>(std::move(document)));
  EXPECT_EQ(node.metadata.annotations.size(), 2U);
}

TEST(Trim, RemovesOnlyTheConfigOfARenderedConfig) {
  json::Value document = {
      {"metadata", {{"name", "rendered-worker-1"}, {"ownerReferences", {{{"kind", "MachineConfigPool"}}}}}},
      {"spec", {{"osImageURL", "image"}, {"config", {{"ignition", {{"version", "3.5.0"}}}}}}}};
  auto written = document;
  written["metadata"]["labels"] = {{"machineconfiguration.openshift.io/role", "worker"}};
  const auto rendered = ValueOf(kube::Decode<WatchedMachineConfig>(std::move(document)));
  EXPECT_TRUE(rendered.spec.config.is_null());
  EXPECT_EQ(rendered.spec.os_image_url, "image");
  // A pool may select this config, so it keeps its contents.
  EXPECT_FALSE(ValueOf(kube::Decode<WatchedMachineConfig>(std::move(written))).spec.config.is_null());
}

}  // namespace
}  // namespace pintle::controller
