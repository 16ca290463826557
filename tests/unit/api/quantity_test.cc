// SPDX-License-Identifier: Apache-2.0
#include "api/quantity.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "json/fields.h"

namespace pintle::api {
namespace {

struct Row {
  std::string_view text;
  std::string_view canonical;
  std::int64_t value;
};

TEST(Quantity, HasACanonicalTextAndANumberThatIsRoundedUp) {
  constexpr std::int64_t kKi = 1024;
  constexpr std::int64_t kGi = kKi * kKi * kKi;
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  for (const Row& row : {
           Row{"0", "0", 0},
           {"000", "0", 0},
           {"0Gi", "0", 0},
           {"0.000", "0", 0},
           {"-0", "0", 0},
           {"+", "0", 0},
           {"4096", "4096", 4096},
           {"20G", "20G", 20'000'000'000},
           {"1000M", "1G", 1'000'000'000},
           {"10Gi", "10Gi", 10 * kGi},
           {"1024Mi", "1Gi", kGi},
           {"1000Mi", "1000Mi", 1000 * kKi * kKi},
           {"1.5Gi", "1536Mi", kGi + kGi / 2},
           {"0.5Ki", "512", 512},
           {"1.0001Ki", "1024102400u", 1025},
           {"1500m", "1500m", 2},
           {"1.5", "1500m", 2},
           {"0.5", "500m", 1},
           {"0.0001", "100u", 1},
           {"1n", "1n", 1},
           {"0.1n", "1n", 1},
           {"1e9", "1e9", 1'000'000'000},
           {"1E9", "1E9", 1'000'000'000},
           {"1e5", "100e3", 100'000},
           {"1e-3", "1e-3", 1},
           {"1e+3", "1e+3", 1000},
           {"-1", "-1", -1},
           {"-1Mi", "-1Mi", -kKi * kKi},
           {"-1.5", "-1500m", -2},
           {"9223372036854775807", "9223372036854775807", kMost},
           {"8Ei", "9223372036854775807", kMost},
           // Kubernetes has no suffix for these exponents, and leaves them out.
           {"1000E", "1", 0},
           {"10000000000000000000000", "10", 1'864'712'049'423'024'128},
           {"9000000000000P", "9", 0},
           // If a product does not fit into 64 bits, Kubernetes keeps its lowest bits or 0.
           {"12E", "12E", 0},
           {"-12E", "-12E", 0},
           {"828288072902227G", "828288072902227G", -7'629'495'479'286'661'632},
           {"-828288072902227G", "-828288072902227G", 7'629'495'479'286'661'632},
           {"31010793312240669E3", "31010793312240669E3", -5'882'694'835'178'434'232},
           {"86822163150.000886P", "86822163150.000886P", -1'930'339'364'308'378'624},
           // Kubernetes rounds a negative number wrongly if it does not parse it on its quick path.
           {"-0.1n", "-1n", 1},
           {"-4.0000000000000000000001", "-4000000001n", -3},
           {"-5894811Ti", "-5894811Ti", 6'030'882'852},
           {"-9Ei", "-9223372036854775807", -9'223'372'036'854'775'807},
           // Kubernetes keeps texts that it takes for canonical.
           {"1.500", "1.500", 2},
           {"007Gi", "007Gi", 7 * kGi},
           {"008Gi", "8Gi", 8 * kGi},
           {"+5G", "+5G", 5'000'000'000},
           {"5.G", "5.G", 5'000'000'000},
       }) {
    const auto quantity = Quantity::Parse(row.text);
    ASSERT_TRUE(quantity) << row.text;
    EXPECT_EQ(quantity->text(), row.canonical) << row.text;
    EXPECT_EQ(quantity->value(), row.value) << row.text;
  }
}

TEST(Quantity, RefusesTextsThatKubernetesRefuses) {
  constexpr std::string_view kPattern =
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
  constexpr std::string_view kSuffix = "unable to parse quantity's suffix";
  constexpr std::string_view kNumber = "unable to parse numeric part of quantity";
  struct Wrong {
    std::string_view text;
    std::string_view error;
  };
  for (const Wrong& row : {Wrong{"", kPattern},
                           {"G!", kPattern},
                           {"1 G", kPattern},
                           {"1.2.3", kPattern},
                           {"1K", kSuffix},
                           {"1ki", kSuffix},
                           {"1GiB", kPattern},
                           {"1e", kSuffix},
                           {"1e99999999999", kSuffix},
                           {"1e+-3", kPattern},
                           {"Ei", kNumber},
                           {"-.Ei", kNumber},
                           {"e-10", kNumber},
                           {"abc", kPattern}}) {
    const auto quantity = Quantity::Parse(row.text);
    ASSERT_FALSE(quantity) << row.text;
    EXPECT_EQ(quantity.error().message(), row.error) << row.text;
  }
}

TEST(Quantity, OfHugeSizeTakesNoTime) {
  for (const std::string_view text : {"1e2147483647", "1e-2147483648", "-9e2147483647"}) {
    EXPECT_TRUE(Quantity::Parse(text)) << text;
  }
  EXPECT_EQ(Quantity::Parse("1e-2147483648")->value(), 1);
  EXPECT_TRUE(Quantity::Parse(std::string(100'000, '9') + "Ei"));
}

TEST(Quantity, IsZeroOnlyIfItIsWrittenAsZero) {
  EXPECT_TRUE(Quantity().is_zero());
  EXPECT_TRUE(Quantity::Parse("-0.0Gi")->is_zero());
  EXPECT_FALSE(Quantity::Parse("0.0001")->is_zero());
  // The value does not fit into 64 bits.
  EXPECT_EQ(Quantity::Parse("12E")->value(), 0);
  EXPECT_FALSE(Quantity::Parse("12E")->is_zero());
}

TEST(Quantity, IsReadFromATextOrANumber) {
  json::Report report;
  EXPECT_EQ(json::Decode<Quantity>(json::Value("1G"), report).text(), "1G");
  EXPECT_EQ(json::Decode<Quantity>(json::Value(4096), report).text(), "4096");
  EXPECT_EQ(json::Decode<Quantity>(json::Value(1.5), report).text(), "1500m");
  EXPECT_EQ(json::Decode<Quantity>(json::Value("  10Gi "), report).text(), "10Gi");
  EXPECT_FALSE(report.has_errors());
  json::Decode<Quantity>(json::Value(true), report);
  json::Decode<Quantity>(json::Value("x"), report);
  json::Decode<Quantity>(json::Value("  "), report);
  EXPECT_EQ(report.problems().size(), 3U);
}

}  // namespace
}  // namespace pintle::api
