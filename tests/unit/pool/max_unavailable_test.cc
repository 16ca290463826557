// SPDX-License-Identifier: Apache-2.0
#include "pool/max_unavailable.h"

#include "support/expect.h"
#include "unit/pool/sample.h"

namespace pintle::pool {
namespace {

int MostOf(api::IntOrString value, std::size_t node_count) {
  return ValueOf(MaxUnavailable(PoolWith(kNew, std::move(value)), node_count));
}

std::string WhyRefused(const std::string& value) { return MessageOf(MaxUnavailable(PoolWith(kNew, {value}), 4)); }

TEST(MaxUnavailable, IsOneUnlessThePoolSetsMore) {
  api::MachineConfigPool pool = PoolWith(kNew);
  pool.spec.max_unavailable.reset();
  EXPECT_EQ(ValueOf(MaxUnavailable(pool, 5)), 1);
  EXPECT_EQ(MostOf({0}, 5), 1);
  EXPECT_EQ(MostOf({3}, 5), 3);
  EXPECT_EQ(MostOf({100}, 5), 100);
}

TEST(MaxUnavailable, RoundsAPercentageDownButNotToZero) {
  EXPECT_EQ(MostOf({"50%"}, 4), 2);
  EXPECT_EQ(MostOf({"60%"}, 4), 2);
  EXPECT_EQ(MostOf({"10%"}, 4), 1);
  EXPECT_EQ(MostOf({"0%"}, 4), 1);
  EXPECT_EQ(MostOf({"50%"}, 0), 1);
  EXPECT_EQ(MostOf({"+50%"}, 4), 2);
  EXPECT_EQ(MostOf({"200%"}, 4), 8);
}

TEST(MaxUnavailable, MayBeNegativeWhichStopsThePool) {
  EXPECT_EQ(MostOf({-2}, 4), -2);
  EXPECT_EQ(MostOf({"-1%"}, 4), -1);
}

TEST(MaxUnavailable, IsAlwaysOneForArbiters) {
  api::MachineConfigPool pool = PoolWith(kNew, {3});
  pool.metadata.name = "arbiter";
  EXPECT_EQ(ValueOf(MaxUnavailable(pool, 5)), 1);
}

TEST(MaxUnavailable, IsRefusedInTheWordsOfGo) {
  const std::string prefix = "maxUnavailable: invalid value for IntOrString: ";
  EXPECT_EQ(WhyRefused("60"), prefix + "invalid type: string is not a percentage");
  EXPECT_EQ(WhyRefused(""), prefix + "invalid type: string is not a percentage");
  EXPECT_EQ(WhyRefused("40 %"), prefix + R"(invalid value "40 %": strconv.Atoi: parsing "40 ": invalid syntax)");
  EXPECT_EQ(WhyRefused("%"), prefix + R"(invalid value "%": strconv.Atoi: parsing "": invalid syntax)");
  EXPECT_EQ(WhyRefused("+-1%"), prefix + R"(invalid value "+-1%": strconv.Atoi: parsing "+-1": invalid syntax)");
  EXPECT_EQ(WhyRefused("1_0%"), prefix + R"(invalid value "1_0%": strconv.Atoi: parsing "1_0": invalid syntax)");
  EXPECT_EQ(WhyRefused("99999999999999999999%"),
            prefix +
                "invalid value \"99999999999999999999%\": "
                "strconv.Atoi: parsing \"99999999999999999999\": value out of range");
}

TEST(MaxUnavailable, OfAnAbsurdPercentageIsBounded) {
  EXPECT_EQ(MostOf({"9223372036854775807%"}, 4), std::numeric_limits<int>::max());
  EXPECT_EQ(MostOf({"-9223372036854775808%"}, 4), -std::numeric_limits<int>::max());
}

}  // namespace
}  // namespace pintle::pool
