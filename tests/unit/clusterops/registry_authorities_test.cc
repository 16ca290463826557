// SPDX-License-Identifier: Apache-2.0
#include "clusterops/registry_authorities.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "json/parse.h"

namespace pintle::clusterops {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

TEST(MergedRegistryAuthorities, PreferTheAuthoritiesOfTheUser) {
  const auto merged = MergedRegistryAuthorities(*json::Parse(R"({
      "imageRegistryBundleData": [{"file": "a", "data": "b25l"}, {"file": "b", "data": "dHdv"}],
      "imageRegistryBundleUserData": [{"file": "b", "data": "bWluZQ=="}, {"file": "c", "data": "/w=="}]})"));
  EXPECT_THAT(merged.data, ElementsAre(Pair("a", "one"), Pair("b", "mine")));
  EXPECT_THAT(merged.binary_data, ElementsAre(Pair("c", "/w==")));
}

TEST(MergedRegistryAuthorities, AreEmptyWithoutBundles) {
  const auto merged = MergedRegistryAuthorities(*json::Parse("{}"));
  EXPECT_THAT(merged.data, IsEmpty());
  EXPECT_THAT(merged.binary_data, IsEmpty());
}

}  // namespace
}  // namespace pintle::clusterops
