// SPDX-License-Identifier: Apache-2.0
#include "generated/go_duration.h"

#include <gtest/gtest.h>

namespace pintle::generated {
namespace {

struct DurationCase {
  const char* text;
  const char* expected;  // The written form, or the error.
};

std::string RewrittenDuration(const char* text) {
  const Result<GoDuration> duration = ParseGoDuration(text);
  return duration ? GoText(*duration) : duration.error().message();
}

TEST(GoDuration, IsReadAndWrittenAsGoDoes) {
  const DurationCase cases[] = {
      {"0", "0s"},
      {"0s", "0s"},
      {"-0", "0s"},
      {"+5s", "5s"},
      {"-1.5h", "-1h30m0s"},
      {"90s", "1m30s"},
      {"5m", "5m0s"},
      {"100h", "100h0m0s"},
      {"1h2m3.5s", "1h2m3.5s"},
      {"250ms", "250ms"},
      {"1us", "1\xC2\xB5s"},
      {"1\xC2\xB5s", "1\xC2\xB5s"},
      {"1\xCE\xBCs", "1\xC2\xB5s"},
      {"1500ns", "1.5\xC2\xB5s"},
      {"7ns", "7ns"},
      {".5s", "500ms"},
      {"1.s", "1s"},
      {"0.3333333333333333333333s", "333.333333ms"},
      {"1s1s", "2s"},
      {"9223372036854775807ns", "2562047h47m16.854775807s"},
      {"-9223372036854775808ns", "-2562047h47m16.854775808s"},
      {"9223372036854775808ns", "time: invalid duration \"9223372036854775808ns\""},
      {"3000000h", "time: invalid duration \"3000000h\""},
      {"99999999999999999999s", "time: invalid duration \"99999999999999999999s\""},
      {"", "time: invalid duration \"\""},
      {"-", "time: invalid duration \"-\""},
      {"s", "time: invalid duration \"s\""},
      {".s", "time: invalid duration \".s\""},
      {"5", "time: missing unit in duration \"5\""},
      {"1m5", "time: missing unit in duration \"1m5\""},
      {"5y", "time: unknown unit \"y\" in duration \"5y\""},
      {"5 s", "time: unknown unit \" s\" in duration \"5 s\""},
      {"5\"\xC3\xA4", "time: unknown unit \"\\\"\\xc3\\xa4\" in duration \"5\\\"\\xc3\\xa4\""},
  };
  for (const DurationCase& c : cases) EXPECT_EQ(RewrittenDuration(c.text), c.expected) << c.text;
}

}  // namespace
}  // namespace pintle::generated
