// SPDX-License-Identifier: Apache-2.0
#include "controller/kubeconfig_data_pass.h"

#include <gtest/gtest.h>

#include <chrono>

#include "base/base64.h"

namespace pintle::controller {
namespace {

constexpr const char* kKey = "ca-bundle.crt";
const WallTime kNow = std::chrono::sys_days(std::chrono::year(2026) / 1 / 1);

// A cluster whose authorities are copied as the pass decides.
struct Copied {
  api::ConfigMap source = {};
  std::optional<api::ConfigMap> known = {};
  std::optional<SettlingAuthorities> settling = {};
  WallTime now = kNow;

  explicit Copied(const std::string& bundle) {
    source.data[kKey] = bundle;
    Look();
  }
  bool Look() {
    const auto change =
        KubeconfigDataPass({.source = &source, .known = known ? &*known : nullptr, .settling = settling, .now = now});
    settling = change.settling;
    if (change.next) known = change.next;
    return change.are_authorities_new;
  }
  std::string Bundle() const { return *DecodeBase64(known->binary_data.at(kKey)); }
};

TEST(KubeconfigDataPass, ANewClusterGetsItsAuthoritiesAtOnce) {
  Copied cluster("first");
  EXPECT_EQ(cluster.Bundle(), "first");
  EXPECT_FALSE(cluster.Look()) << "its nodes have them";
}

TEST(KubeconfigDataPass, WaitsUntilTheAuthoritiesNoLongerChange) {
  Copied cluster("first");
  cluster.source.data[kKey] = "second";
  cluster.Look();
  cluster.now += std::chrono::seconds(10);
  cluster.source.data[kKey] = "third";
  cluster.Look();
  cluster.now += std::chrono::seconds(10);
  cluster.Look();
  EXPECT_EQ(cluster.Bundle(), "first");
  cluster.now += std::chrono::seconds(5);
  cluster.Look();
  EXPECT_EQ(cluster.Bundle(), "third");
}

TEST(KubeconfigDataPass, AsksNodesToLookForTenMinutes) {
  Copied cluster("first");
  cluster.source.data[kKey] = "second";
  EXPECT_FALSE(cluster.Look());
  cluster.now += std::chrono::seconds(15);
  cluster.Look();
  EXPECT_TRUE(cluster.Look());
  cluster.now += std::chrono::minutes(9);
  EXPECT_TRUE(cluster.Look());
  cluster.now += std::chrono::minutes(2);
  EXPECT_FALSE(cluster.Look());
}

TEST(KubeconfigDataPass, AsksAgainWhenTheyChangeWhileNodesLook) {
  Copied cluster("first");
  cluster.source.data[kKey] = "second";
  cluster.Look();
  cluster.now += std::chrono::seconds(15);
  cluster.Look();
  EXPECT_TRUE(cluster.Look());
  cluster.source.data[kKey] = "third";
  EXPECT_FALSE(cluster.Look());
  cluster.now += std::chrono::seconds(15);
  cluster.Look();
  EXPECT_TRUE(cluster.Look());
}

TEST(KubeconfigDataPass, KeepsTheAuthoritiesWhenTheSourceIsGone) {
  Copied cluster("first");
  cluster.source.data.clear();
  cluster.now += std::chrono::minutes(1);
  cluster.Look();
  EXPECT_EQ(cluster.Bundle(), "first");
}

TEST(KubeconfigDataPass, TheOperatorsCopyIsTheSame) {
  Copied cluster("first");
  cluster.known->binary_data.clear();
  cluster.known->data[kKey] = "first";
  cluster.Look();
  EXPECT_TRUE(cluster.known->binary_data.empty());
}

}  // namespace
}  // namespace pintle::controller
