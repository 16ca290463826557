// SPDX-License-Identifier: Apache-2.0
#include "machineconfig/yaml_scalar.h"

#include "support/expect.h"

namespace pintle::machineconfig {
namespace {

bool IsTimestamp(std::string_view text) { return std::holds_alternative<Timestamp>(MeaningOf(text)); }

TEST(MeaningOf, RecognisesTimesInTheFormsThatGoReads) {
  for (const char* time : {"2001-12-14", "2001-1-2", "0000-02-29", "2001-12-14T21:59:43.10Z", "2001-12-14t1:2:3+05:30",
                           "2001-12-14 21:59:43", "2001-12-14   21:59:43.123456789012", "2024-02-29"}) {
    EXPECT_TRUE(IsTimestamp(time)) << time;
  }
  for (const char* text : {"2001-13-14", "2001-12-32", "2023-02-29", "2001-12-14T21:59:43", "2001-12-14 24:00:00",
                           "2001-12-14T21:59:43+5:30", "2001-12-14 21:59", "201-12-14", "2001-12-14x", "2001-"}) {
    EXPECT_FALSE(IsTimestamp(text)) << text;
  }
}

TEST(MeaningOf, ChecksTheLimitsOfNumbers) {
  EXPECT_EQ(std::get<std::int64_t>(MeaningOf("-9223372036854775808")), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(std::get<std::uint64_t>(MeaningOf("0xFFFFFFFFFFFFFFFF")), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(std::get<double>(MeaningOf("+9223372036854775808")), 9223372036854775808.0);
  EXPECT_EQ(std::get<double>(MeaningOf("1e-999")), 0);
  EXPECT_TRUE(std::holds_alternative<Text>(MeaningOf("1e999")));
  EXPECT_TRUE(std::holds_alternative<Text>(MeaningOf("._1")));
  EXPECT_EQ(std::get<double>(MeaningOf(".1_0")), 0.1);
}

TEST(GoNumberText, WritesTheShortestDigits) {
  EXPECT_EQ(GoNumberText(0.1), "0.1");
  EXPECT_EQ(GoNumberText(100000.0), "100000");
  EXPECT_EQ(GoNumberText(1e6), "1e+06");
  EXPECT_EQ(GoNumberText(-1.5e-7), "-1.5e-07");
  EXPECT_EQ(GoNumberText(0.0001), "0.0001");
  EXPECT_EQ(GoNumberText(0.00001), "1e-05");
  EXPECT_EQ(GoNumberText(1.2345e300), "1.2345e+300");
  EXPECT_EQ(GoNumberText(0.1F), "0.1");
}

TEST(ThroughJson, TurnsFloatingPointNumbersThatAreWholeIntoIntegers) {
  EXPECT_EQ(std::get<std::int64_t>(ThroughJson(-0.0).value()), 0);
  EXPECT_EQ(std::get<std::int64_t>(ThroughJson(420.0).value()), 420);
  // Go writes the shortest digits that identify the number and fills up with zeros, so the result differs from the
  // number.
  EXPECT_EQ(std::get<std::int64_t>(ThroughJson(4611686018427387904.0).value()), 4611686018427388000);
  EXPECT_EQ(std::get<double>(ThroughJson(1e20).value()), 1e20);
  EXPECT_FALSE(ThroughJson(std::numeric_limits<double>::infinity()));
}

}  // namespace
}  // namespace pintle::machineconfig
