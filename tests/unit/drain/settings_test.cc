// SPDX-License-Identifier: Apache-2.0
#include "drain/settings.h"

#include <gtest/gtest.h>

namespace pintle::drain {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

api::MachineConfigPool PoolWith(api::Annotations annotations) {
  api::MachineConfigPool pool;
  pool.metadata.name = "worker";
  pool.metadata.annotations = std::move(annotations);
  return pool;
}

TEST(Settings, AreTheDefaultsUnlessThePoolSetsThem) {
  const PoolSettings read = SettingsOf(PoolWith({{"example.com/drain-timeout", "1s"}}));
  EXPECT_EQ(read.settings, Settings());
  EXPECT_TRUE(read.problems.empty());
}

TEST(Settings, AreReadFromThePool) {
  const PoolSettings read = SettingsOf(PoolWith({{"pintle.io/drain-timeout", "3h"},
                                                 {"pintle.io/drain-attempt", "2min"},
                                                 {"pintle.io/drain-pause", "30"},
                                                 {"pintle.io/drain-slow-after", "20m"},
                                                 {"pintle.io/drain-slow-pause", "1h 30min"},
                                                 {"pintle.io/drain-eviction-retry", "1s"}}));
  EXPECT_EQ(read.settings, (Settings{hours(3), minutes(2), seconds(30), minutes(20), minutes(90), seconds(1)}));
  EXPECT_TRUE(read.problems.empty());
}

TEST(Settings, ThatAreInvalidAreNamedAndKeepTheirDefaults) {
  const PoolSettings read = SettingsOf(PoolWith(
      {{"pintle.io/drain-timeout", "soon"}, {"pintle.io/drain-attempt", "0"}, {"pintle.io/drain-pause", "10s"}}));
  EXPECT_EQ(read.settings.timeout, hours(1));
  EXPECT_EQ(read.settings.attempt, seconds(90));
  EXPECT_EQ(read.settings.pause, seconds(10));
  ASSERT_EQ(read.problems.size(), 2u);
  EXPECT_EQ(read.problems[0].message(),
            "annotation pintle.io/drain-timeout=soon of pool worker: must be a time such as 90, 5s, 10min or 1h 30min");
  EXPECT_EQ(read.problems[1].message(),
            "annotation pintle.io/drain-attempt=0 of pool worker: must be a second or longer");
}

}  // namespace
}  // namespace pintle::drain
