// SPDX-License-Identifier: Apache-2.0
#include "controller/replacing_patch.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "json/parse.h"
#include "support/expect.h"

namespace pintle::controller {
namespace {

nlohmann::json ObjectAfter(const char* object, ReplacingPatch patch) {
  return nlohmann::json::parse(object).patch(nlohmann::json::parse(json::ToText(std::move(patch).operations())));
}

TEST(ReplacingPatch, KeepsTheAnnotationsAndLabelsOfAnEarlierCallOnAnObjectWithoutAny) {
  api::ObjectMeta known;
  known.resource_version = "1";
  ReplacingPatch patch(known);
  patch.SetAnnotations({{"a", "1"}});
  patch.SetLabels({{"l", "1"}});
  patch.SetAnnotations({{"a/b", "2"}});
  patch.SetLabels({{"m~n", "2"}});
  EXPECT_EQ(ObjectAfter(R"({"metadata": {"resourceVersion": "1"}})", std::move(patch)),
            nlohmann::json::parse(R"({"metadata":
      {"resourceVersion": "1", "annotations": {"a": "1", "a/b": "2"}, "labels": {"l": "1", "m~n": "2"}}})"));
}

TEST(ReplacingPatch, KeepsTheAnnotationsThatTheObjectHas) {
  api::ObjectMeta known;
  known.resource_version = "1";
  known.annotations = {{"x", "0"}};
  ReplacingPatch patch(known);
  patch.SetAnnotations({});
  patch.SetAnnotations({{"a", "1"}});
  EXPECT_EQ(ObjectAfter(R"({"metadata": {"resourceVersion": "1", "annotations": {"x": "0"}}})", std::move(patch)),
            nlohmann::json::parse(R"({"metadata": {"resourceVersion": "1", "annotations": {"x": "0", "a": "1"}}})"));
}

TEST(ReplacingPatch, RemovesTheWholeMapWithTheLastAnnotationOrLabel) {
  api::ObjectMeta known;
  known.resource_version = "1";
  known.annotations = {{"a/b", "1"}, {"c", "2"}};
  known.labels = {{"l", "1"}, {"m", "2"}};
  ReplacingPatch patch(known);
  patch.RemoveAnnotations({"a/b", "c"});
  patch.RemoveLabels({"m"});
  EXPECT_EQ(ObjectAfter(R"({"metadata":
      {"resourceVersion": "1", "annotations": {"a/b": "1", "c": "2"}, "labels": {"l": "1", "m": "2"}}})",
                        std::move(patch)),
            nlohmann::json::parse(R"({"metadata": {"resourceVersion": "1", "labels": {"l": "1"}}})"));
}

TEST(ReplacingPatch, RemovesAValueAtAPath) {
  api::ObjectMeta known;
  known.resource_version = "1";
  ReplacingPatch patch(known);
  patch.Remove("/spec/a");
  EXPECT_EQ(ObjectAfter(R"({"metadata": {"resourceVersion": "1"}, "spec": {"a": 1, "b": 2}})", std::move(patch)),
            nlohmann::json::parse(R"({"metadata": {"resourceVersion": "1"}, "spec": {"b": 2}})"));
}

}  // namespace
}  // namespace pintle::controller
