// SPDX-License-Identifier: Apache-2.0
#include "generated/pool_selection.h"

#include <gtest/gtest.h>

#include <string>

namespace pintle::generated {
namespace {

api::MachineConfigPool PoolWithLabel(const std::string& value) {
  api::MachineConfigPool pool;
  pool.metadata.name = "worker";
  pool.metadata.labels = {{"pool", value}};
  return pool;
}

TEST(IsSelected, IsDecidedByLabels) {
  api::LabelSelector selector;
  selector.match_labels = {{"pool", "worker"}};
  EXPECT_TRUE(*IsSelected(PoolWithLabel("worker"), selector));
  EXPECT_FALSE(*IsSelected(PoolWithLabel("infra"), selector));
}

TEST(IsSelected, IsFalseForASelectorWithoutRequirements) {
  EXPECT_FALSE(*IsSelected(PoolWithLabel("worker"), std::nullopt));
  EXPECT_FALSE(*IsSelected(PoolWithLabel("worker"), api::LabelSelector{}));
}

TEST(IsSelected, RefusesABadSelector) {
  api::LabelSelector selector;
  selector.match_expressions = {{.key = "a", .op = "Near", .values = {}}};
  const auto unknown = IsSelected(PoolWithLabel("worker"), selector);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().message(), "invalid label selector: \"Near\" is not a valid label selector operator");
  selector.match_expressions = {{.key = "a", .op = "In", .values = {}}};
  const auto empty = IsSelected(PoolWithLabel("worker"), selector);
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error().message(),
            "invalid label selector: values: Invalid value: null: for 'in', 'notin' operators, values set can't be "
            "empty");
}

}  // namespace
}  // namespace pintle::generated
