// SPDX-License-Identifier: Apache-2.0
#include "clusterops/authorities.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

#include "base/base64.h"

namespace pintle::clusterops {
namespace {

constexpr const char* kKey = "ca-bundle.crt";
constexpr const char* kBundle = "-----BEGIN CERTIFICATE-----\n";

api::ConfigMap MapWith(std::map<std::string, std::string> data, std::map<std::string, std::string> binary_data = {}) {
  return {.metadata = {}, .data = std::move(data), .binary_data = std::move(binary_data)};
}

TEST(AuthoritiesIn, ReadsATextBytesAndBase64) {
  EXPECT_EQ(AuthoritiesIn(MapWith({{kKey, kBundle}}), kKey), kBundle);
  EXPECT_EQ(AuthoritiesIn(MapWith({{kKey, EncodeBase64(kBundle)}}), kKey), kBundle);
  EXPECT_EQ(AuthoritiesIn(MapWith({{kKey, EncodeBase64(kBundle) + "\n"}}), kKey), kBundle);
  EXPECT_EQ(AuthoritiesIn(MapWith({}, {{kKey, EncodeBase64(kBundle)}}), kKey), kBundle);
}

TEST(AuthoritiesIn, PrefersBytes) {
  EXPECT_EQ(AuthoritiesIn(MapWith({{kKey, "old"}}, {{kKey, EncodeBase64(kBundle)}}), kKey), kBundle);
}

TEST(AuthoritiesIn, AreEmptyWithoutTheKey) {
  EXPECT_EQ(AuthoritiesIn(MapWith({}), kKey), "");
  EXPECT_EQ(AuthoritiesIn(MapWith({{"ca.crt", kBundle}}, {{"ca.pem", EncodeBase64(kBundle)}}), kKey), "");
}

}  // namespace
}  // namespace pintle::clusterops
