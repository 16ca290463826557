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

}  // namespace
}  // namespace pintle::controller
