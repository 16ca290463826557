// SPDX-License-Identifier: Apache-2.0
#include "base/time_span.h"

#include <gtest/gtest.h>

#include <string_view>
#include <utility>

#include "support/expect.h"

namespace pintle {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

TEST(TimeSpan, IsReadAsSystemdWritesIt) {
  const std::pair<std::string_view, milliseconds> times[] = {
      {"0", seconds(0)},       {"90", seconds(90)},     {"5s", seconds(5)},        {"250ms", milliseconds(250)},
      {"10min", minutes(10)},  {"10 min", minutes(10)}, {"1h 30min", minutes(90)}, {"1h30min", minutes(90)},
      {"2 hours", hours(2)},   {"1d", hours(24)},       {"1w", hours(168)},        {"3m", minutes(3)},
      {"1min 5", seconds(65)}, {"365d", hours(8760)},   {" 7sec ", seconds(7)},
  };
  for (const auto& [text, time] : times) EXPECT_EQ(ValueOf(ParseTimeSpan(text)), time) << text;
}

TEST(TimeSpan, RefusesOtherTexts) {
  for (const std::string_view text :
       {"", " ", "s", "-1", "1.5h", "infinity", "5x", "5S", "1h,2", "0x10", "99999999999", "1h 30min x", "1us"}) {
    EXPECT_EQ(MessageOf(ParseTimeSpan(text)), "must be a time such as 90, 5s, 10min or 1h 30min") << text;
  }
  EXPECT_EQ(MessageOf(ParseTimeSpan("366d")), "must be a year at most");
  EXPECT_EQ(MessageOf(ParseTimeSpan("2147483647w 2147483647w")), "must be a year at most");
}

TEST(TimeSpan, IsWrittenAsGoWritesIt) {
  const std::pair<seconds, std::string_view> spans[] = {{seconds(0), "0s"},     {seconds(59), "59s"},
                                                        {seconds(90), "1m30s"}, {minutes(10), "10m0s"},
                                                        {hours(1), "1h0m0s"},   {hours(25) + seconds(1), "25h0m1s"}};
  for (const auto& [span, text] : spans) EXPECT_EQ(GoTimeSpan(span), text);
}

TEST(TimeSpan, IsWrittenInWords) {
  const std::pair<seconds, std::string_view> spans[] = {{hours(1), "1 hour"},        {hours(3), "3 hours"},
                                                        {minutes(10), "10 minutes"}, {minutes(90), "90 minutes"},
                                                        {seconds(1), "1 second"},    {seconds(90), "90 seconds"}};
  for (const auto& [span, text] : spans) EXPECT_EQ(InWords(span), text);
}

}  // namespace
}  // namespace pintle
