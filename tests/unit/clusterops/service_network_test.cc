// SPDX-License-Identifier: Apache-2.0
#include "clusterops/service_network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pintle::clusterops {
namespace {

using Ranges = std::vector<std::string>;

TEST(ClusterDnsAddress, IsTheFirstAddressOfTheFirstRangePlusTen) {
  EXPECT_EQ(*ClusterDnsAddress({"172.30.0.0/16"}), "172.30.0.10");
  EXPECT_EQ(*ClusterDnsAddress({"fd02::/112", "172.30.0.0/16"}), "fd02::a");
  EXPECT_EQ(*ClusterDnsAddress({"10.1.2.77/8"}), "10.0.0.10");
  EXPECT_EQ(*ClusterDnsAddress({"10.0.0.250/28"}), "10.0.0.250");
  EXPECT_EQ(*ClusterDnsAddress({"fd02::ff/124"}), "fd02::fa");
}

TEST(ClusterDnsAddress, NeedsARange) {
  EXPECT_EQ(ClusterDnsAddress({}).error().message(), "service cidr is empty in Network");
  for (const char* wrong :
       {"", "172.30.0.0", "172.30.0.0/33", "172.30.0/16", "x/8", "10.0.0.0/", "10.0.0.0/8 ", "::/129"}) {
    const auto address = ClusterDnsAddress({wrong});
    ASSERT_FALSE(address) << wrong;
    EXPECT_THAT(address.error().message(), testing::HasSubstr(std::string("\"") + wrong + "\""));
  }
}

TEST(ClusterDnsAddress, MustBeInTheRange) {
  for (const char* small : {"172.30.0.0/29", "172.30.0.0/32", "fd02::/125", "fd02::/128"}) {
    const auto address = ClusterDnsAddress({small});
    ASSERT_FALSE(address) << small;
    EXPECT_EQ(address.error().message(), std::string("the Network named cluster: spec.serviceNetwork: \"") + small +
                                             "\" is too small: the DNS server needs the first address plus 10");
  }
}

TEST(IpFamiliesOf, FollowsTheRangesAndTheirOrder) {
  EXPECT_EQ(*IpFamiliesOf({"172.30.0.0/16"}), "IPv4");
  EXPECT_EQ(*IpFamiliesOf({"fd02::/112"}), "IPv6");
  EXPECT_EQ(*IpFamiliesOf({"172.30.0.0/16", "fd02::/112"}), "DualStack");
  EXPECT_EQ(*IpFamiliesOf({"fd02::/112", "172.30.0.0/16"}), "DualStackIPv6Primary");
  EXPECT_EQ(*IpFamiliesOf({"172.30.0.0/16", "172.31.0.0/16"}), "IPv4");
  EXPECT_EQ(IpFamiliesOf({}).error().message(), "could not determine cluster IP families from config");
  EXPECT_FALSE(IpFamiliesOf({"172.30.0.0/16", "somewhere"}));
}

}  // namespace
}  // namespace pintle::clusterops
