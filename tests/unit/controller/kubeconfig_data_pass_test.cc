// SPDX-License-Identifier: Apache-2.0
#include "controller/kubeconfig_data_pass.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "base/base64.h"
#include "unit/net/made_certificate.h"

namespace pintle::controller {
namespace {

constexpr const char* kKey = "ca-bundle.crt";
const WallTime kNow = std::chrono::sys_days(std::chrono::year(2026) / 1 / 1);

// A cluster whose authorities are copied as the pass decides.
struct CopyingCluster {
  api::ConfigMap source = {};
  std::optional<api::ConfigMap> known = {};
  std::optional<SettlingAuthorities> settling = {};
  WallTime now = kNow;
  std::string problem = {};

  explicit CopyingCluster(const std::string& bundle) {
    source.data[kKey] = bundle;
    Look();
  }
  bool Look() {
    const auto change =
        KubeconfigDataPass({.source = &source, .known = known ? &*known : nullptr, .settling = settling, .now = now});
    settling = change.settling;
    if (change.next) known = change.next;
    problem = change.problem;
    return change.are_authorities_new;
  }
  std::string Bundle() const { return *DecodeBase64(known->binary_data.at(kKey)); }
};

TEST(KubeconfigDataPass, ANewClusterGetsItsAuthoritiesAtOnce) {
  CopyingCluster cluster(NamedCertificate("first"));
  EXPECT_EQ(cluster.Bundle(), NamedCertificate("first"));
  EXPECT_FALSE(cluster.Look()) << "its nodes have them";
}

TEST(KubeconfigDataPass, WaitsUntilTheAuthoritiesNoLongerChange) {
  CopyingCluster cluster(NamedCertificate("first"));
  cluster.source.data[kKey] = NamedCertificate("second");
  cluster.Look();
  cluster.now += std::chrono::seconds(10);
  cluster.source.data[kKey] = NamedCertificate("third");
  cluster.Look();
  cluster.now += std::chrono::seconds(10);
  cluster.Look();
  EXPECT_EQ(cluster.Bundle(), NamedCertificate("first"));
  cluster.now += std::chrono::seconds(5);
  cluster.Look();
  EXPECT_EQ(cluster.Bundle(), NamedCertificate("third"));
}

TEST(KubeconfigDataPass, AsksNodesToLookForTenMinutes) {
  CopyingCluster cluster(NamedCertificate("first"));
  cluster.source.data[kKey] = NamedCertificate("second");
  EXPECT_FALSE(cluster.Look());
  cluster.now += std::chrono::seconds(15);
  cluster.Look();
  EXPECT_TRUE(cluster.Look());
  cluster.now += std::chrono::minutes(9);
  EXPECT_TRUE(cluster.Look());
  cluster.now += std::chrono::minutes(2);
  EXPECT_FALSE(cluster.Look());
}

TEST(KubeconfigDataPass, AsksAgainIfTheAuthoritiesChangeDuringARequest) {
  CopyingCluster cluster(NamedCertificate("first"));
  cluster.source.data[kKey] = NamedCertificate("second");
  cluster.Look();
  cluster.now += std::chrono::seconds(15);
  cluster.Look();
  EXPECT_TRUE(cluster.Look());
  cluster.source.data[kKey] = NamedCertificate("third");
  EXPECT_FALSE(cluster.Look());
  cluster.now += std::chrono::seconds(15);
  cluster.Look();
  EXPECT_TRUE(cluster.Look());
}

TEST(KubeconfigDataPass, KeepsTheAuthoritiesWhenTheSourceIsGone) {
  CopyingCluster cluster(NamedCertificate("first"));
  cluster.source.data.clear();
  cluster.now += std::chrono::minutes(1);
  cluster.Look();
  EXPECT_EQ(cluster.Bundle(), NamedCertificate("first"));
}

TEST(KubeconfigDataPass, KeepsTheAuthoritiesWhenTheSourceHasNoCertificate) {
  CopyingCluster cluster(NamedCertificate("first"));
  cluster.source.data[kKey] = "garbage";
  cluster.Look();
  EXPECT_NE(cluster.problem, "");
  cluster.now += std::chrono::minutes(1);
  cluster.Look();
  EXPECT_EQ(cluster.Bundle(), NamedCertificate("first"));
  cluster.source.data[kKey] = NamedCertificate("second");
  cluster.Look();
  EXPECT_EQ(cluster.problem, "");
}

TEST(KubeconfigDataPass, TheOperatorsCopyAsTextIsLeftAlone) {
  CopyingCluster cluster(NamedCertificate("first"));
  cluster.known->binary_data.clear();
  cluster.known->data[kKey] = NamedCertificate("first");
  cluster.Look();
  EXPECT_TRUE(cluster.known->binary_data.empty());
}

}  // namespace
}  // namespace pintle::controller
