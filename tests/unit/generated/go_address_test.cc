// SPDX-License-Identifier: Apache-2.0
#include "generated/go_address.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace pintle::generated {
namespace {

TEST(VersionOfGoAddress, DistinguishesTheVersions) {
  for (const std::string_view text : {"0.0.0.0", "10.0.0.1", "255.255.255.255"}) {
    const auto version = VersionOfGoAddress(text);
    ASSERT_TRUE(version) << text << version.error().message();
    EXPECT_EQ(*version, IpVersion::kFour) << text;
  }
  for (const std::string_view text : {"::", "::1", "1::", "fd00::ABCD", "1:2:3:4:5:6:7:8", "1::3:4:5:6:7:8",
                                      "::ffff:10.0.0.1", "1:2:3:4:5:6:1.2.3.4", "fe80::1%eth0"}) {
    const auto version = VersionOfGoAddress(text);
    ASSERT_TRUE(version) << text << version.error().message();
    EXPECT_EQ(*version, IpVersion::kSix) << text;
  }
}

TEST(VersionOfGoAddress, ReportsTheProblemsThatGoReports) {
  struct Row {
    std::string_view text;
    std::string_view problem;
  };
  for (const Row& row : {
           Row{"", "unable to parse IP"},
           {"h", "unable to parse IP"},
           {"eth0%1", "missing IPv6 address"},
           {"api.test", "unexpected character (at \"api.test\")"},
           {"1.2.3", "IPv4 address too short"},
           {"1.2.3.4.5", "IPv4 address too long"},
           {"1..3.4", "IPv4 field must have at least one digit (at \".3.4\")"},
           {"1.2.3.", "IPv4 field must have at least one digit (at \".\")"},
           {"1.2.3.04", "IPv4 field has octet with leading zero"},
           {"1.2.3.256", "IPv4 field has value >255"},
           {"fe80::1%", "zone must be a non-empty string"},
           {"12345::", "each group must have 4 or less digits (at \"12345::\")"},
           {"::g", "each colon-separated field must have at least one digit (at \"g\")"},
           {":1", "each colon-separated field must have at least one digit (at \":1\")"},
           {"1:2.3.4.5", "embedded IPv4 address must replace the final 2 fields of the address (at \"2.3.4.5\")"},
           {"::1:2:3:4:5:6:7:1.2.3.4",
            "too many hex fields to fit an embedded IPv4 at the end of the address (at \"1.2.3.4\")"},
           {"::1.2.3", "IPv4 address too short"},
           {"1g::", "unexpected character, want colon (at \"g::\")"},
           {"1:", "colon must be followed by more characters (at \":\")"},
           {"1::2::3", "multiple :: in address (at \":3\")"},
           {"1:2:3:4:5:6:7:8:9", "trailing garbage after address (at \"9\")"},
           {"1:2", "address string too short"},
           {"1:2:3:4::5:6:7:8", "the :: must expand to at least one field of zeros"},
       }) {
    const auto version = VersionOfGoAddress(row.text);
    ASSERT_FALSE(version) << row.text;
    EXPECT_EQ(version.error().message(), "ParseAddr(\"" + std::string(row.text) + "\"): " + std::string(row.problem));
  }
}

}  // namespace
}  // namespace pintle::generated
