// SPDX-License-Identifier: Apache-2.0
#include "net/rate_limit.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace pintle::net {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr MonotonicTime kNow = MonotonicTime(std::chrono::hours(1));

int AllowedOf(int times, RateLimit& limit, std::string_view client, MonotonicTime when) {
  int allowed = 0;
  for (int i = 0; i < times; ++i) allowed += limit.Allow(client, when) ? 1 : 0;
  return allowed;
}

TEST(ClientKeyOf, IsAnIpv4AddressOrAnIpv6Network) {
  EXPECT_EQ(ClientKeyOf("192.0.2.1"), "192.0.2.1");
  EXPECT_EQ(ClientKeyOf("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64");
  EXPECT_EQ(ClientKeyOf("2001:db8:1:2::9"), "2001:db8:1:2::/64");
  EXPECT_NE(ClientKeyOf("2001:db8:1:3::9"), "2001:db8:1:2::/64");
  EXPECT_EQ(ClientKeyOf("fe80::1%eth0"), "fe80::/64");
}

TEST(RateLimit, AllowsABurstAndThenARate) {
  RateLimit limit({.per_second = 10, .burst = 5});
  EXPECT_EQ(AllowedOf(20, limit, "a", kNow), 5);
  EXPECT_EQ(AllowedOf(20, limit, "a", kNow + milliseconds(200)), 2);
  EXPECT_EQ(AllowedOf(20, limit, "a", kNow + seconds(60)), 5);
}

TEST(RateLimit, CountsEachClientSeparately) {
  RateLimit limit({.per_second = 1, .burst = 1});
  EXPECT_TRUE(limit.Allow("a", kNow));
  EXPECT_FALSE(limit.Allow("a", kNow));
  EXPECT_TRUE(limit.Allow("b", kNow));
}

TEST(RateLimit, AllowsEverythingWithoutARate) {
  RateLimit limit({});
  EXPECT_EQ(AllowedOf(1000, limit, "a", kNow), 1000);
}

TEST(RateLimit, AllowsAtLeastOneAtATime) {
  RateLimit limit({.per_second = 0.5, .burst = 0});
  EXPECT_EQ(AllowedOf(3, limit, "a", kNow), 1);
  EXPECT_EQ(AllowedOf(3, limit, "a", kNow + seconds(2)), 1);
}

TEST(RateLimit, ForgetsFirstTheClientsThatHaveWaitedLongEnough) {
  RateLimit limit({.per_second = 1, .burst = 2}, 2);
  EXPECT_EQ(AllowedOf(3, limit, "old", kNow), 2);
  EXPECT_EQ(AllowedOf(3, limit, "new", kNow + seconds(10)), 2);
  EXPECT_EQ(AllowedOf(3, limit, "third", kNow + seconds(10)), 2);
  EXPECT_EQ(AllowedOf(3, limit, "new", kNow + seconds(10)), 0);
}

}  // namespace
}  // namespace pintle::net
