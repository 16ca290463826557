// SPDX-License-Identifier: Apache-2.0

// Tests how the Kubernetes objects are decoded and encoded.

#include "api/lenient.h"
#include "api/machine_config_node.h"
#include "api/machine_config_pool.h"
#include "api/machine_os_build.h"
#include "api/machine_os_config.h"
#include "api/node.h"
#include "json/fields.h"
#include "json/parse.h"
#include "support/expect.h"

namespace pintle::api {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

template <typename T>
T ReadObject(const std::string& text, json::Report& report) {
  return json::Decode<T>(ValueOf(json::Parse(text)), report);
}

// Decodes a document that must have no problems.
template <typename T>
T DecodedWithoutProblems(const std::string& text) {
  json::Report report;
  T object = ReadObject<T>(text, report);
  EXPECT_THAT(report.problems(), IsEmpty());
  return object;
}

template <typename T>
std::vector<std::string> ProblemsOf(const std::string& text) {
  json::Report report;
  static_cast<void>(ReadObject<T>(text, report));
  std::vector<std::string> problems;
  for (const json::Problem& problem : report.problems()) problems.push_back(problem.ToString());
  return problems;
}

TEST(Object, IgnoresUnknownFields) {
  const Node node = DecodedWithoutProblems<Node>(R"({
      "apiVersion":"v1","kind":"Node","metadata":{"name":"a","managedFields":[{}],"labels":null},
      "spec":{"podCIDR":"10.0.0.0/24"},"status":{"conditions":[{"type":"Ready","status":"True","reason":"r"}],"images":[1]}})");
  EXPECT_EQ(node.metadata.name, "a");
  EXPECT_EQ(node.status.conditions.at(0).status, "True");
}

TEST(Object, MayLackAnyField) {
  const MachineConfigPool pool = DecodedWithoutProblems<MachineConfigPool>("{}");
  EXPECT_EQ(pool.kind, "MachineConfigPool");
  EXPECT_FALSE(pool.spec.node_selector.has_value());
  DecodedWithoutProblems<MachineConfigNode>("{}");
  DecodedWithoutProblems<MachineOSConfig>(R"({"spec":null})");
  DecodedWithoutProblems<MachineOSBuild>("{}");
}

TEST(Object, RefusesAFieldOfTheWrongType) {
  EXPECT_THAT(ProblemsOf<Node>(R"({"metadata":{"name":1,"creationTimestamp":"noon"},"spec":[]})"),
              ElementsAre("$.metadata.name: must be a string", testing::StartsWith("$.metadata.creationTimestamp: "),
                          "$.spec: must be an object"));
}

TEST(Selector, MayBeAbsentOrEmpty) {
  EXPECT_FALSE(DecodedWithoutProblems<MachineConfigPoolSpec>(R"({"nodeSelector":null})").node_selector.has_value());
  EXPECT_TRUE(DecodedWithoutProblems<MachineConfigPoolSpec>(R"({"nodeSelector":{}})").node_selector->is_empty());
  EXPECT_FALSE(DecodedWithoutProblems<MachineConfigPoolSpec>(R"({"nodeSelector":{"matchLabels":{"a":""}}})")
                   .node_selector->is_empty());
}

TEST(IntOrString, IsANumberOrAText) {
  EXPECT_EQ(DecodedWithoutProblems<MachineConfigPoolSpec>(R"({"maxUnavailable":3})").max_unavailable, (IntOrString{3}));
  EXPECT_EQ(DecodedWithoutProblems<MachineConfigPoolSpec>(R"({"maxUnavailable":"3%"})").max_unavailable,
            (IntOrString{std::string("3%")}));
  EXPECT_THAT(ProblemsOf<MachineConfigPoolSpec>(R"({"maxUnavailable":true})"),
              ElementsAre("$.maxUnavailable: must be a whole number or a text such as \"10%\""));
  EXPECT_THAT(ProblemsOf<MachineConfigPoolSpec>(R"({"maxUnavailable":3000000000})"),
              ElementsAre("$.maxUnavailable: must be between -2147483648 and 2147483647"));
}

TEST(PoolStatus, IsWrittenAsGoWritesIt) {
  MachineConfigPoolStatus status;
  status.conditions.push_back(
      {.type = "Updated", .status = "True", .last_transition_time = {}, .reason = "", .message = ""});
  EXPECT_EQ(json::ToText(json::Encode(status)),
            R"({"certExpirys":[],"conditions":[{"lastTransitionTime":null,"message":"","reason":"","status":"True",)"
            R"("type":"Updated"}],"configuration":{},"degradedMachineCount":0,"machineCount":0,"readyMachineCount":0,)"
            R"("unavailableMachineCount":0,"updatedMachineCount":0})");
}

TEST(Time, IsWrittenInWholeSecondsOfUtc) {
  const ObjectMeta meta = DecodedWithoutProblems<ObjectMeta>(R"({"creationTimestamp":"2026-11-21T07:41:43.9+02:00"})");
  EXPECT_EQ(json::ToText(json::Encode(meta)), R"({"creationTimestamp":"2026-11-21T05:41:43Z"})");
}

TEST(Find, ReturnsTheValueOrNull) {
  const Labels labels = {{"a", "1"}, {"b", ""}};
  EXPECT_EQ(*Find(labels, "a"), "1");
  EXPECT_EQ(*Find(labels, "b"), "");
  EXPECT_EQ(Find(labels, "c"), nullptr);
}

}  // namespace
}  // namespace pintle::api
