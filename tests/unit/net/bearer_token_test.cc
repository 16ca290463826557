// SPDX-License-Identifier: Apache-2.0
#include "net/bearer_token.h"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

namespace pintle::net {
namespace {

std::optional<std::string_view> TokenIn(const std::vector<std::string_view>& values) {
  IncomingRequest request = {.method = "GET", .target = "/", .peer = "", .headers = {{"Host", "a"}}};
  for (const std::string_view value : values) request.headers.push_back({"authorization", value});
  return BearerTokenOf(request);
}

TEST(BearerToken, IsTheTextAfterTheWordBearer) {
  EXPECT_EQ(TokenIn({"Bearer abc"}), "abc");
  EXPECT_EQ(TokenIn({"bearer   a.B-c_~+/9=="}), "a.B-c_~+/9==");
}

TEST(BearerToken, IsMissingWithoutAHeaderOfThisForm) {
  EXPECT_EQ(TokenIn({}), std::nullopt);
  for (const std::string_view value : {"", "Bearer", "Bearer ", "Bearer   ", "Bearer =", "Bearerabc", "Basic YTpi",
                                       "abc", "Bearer a b", "Bearer a,b", "Bearer a\tb", "Bearer a=b", "Bearer \x80"}) {
    EXPECT_EQ(TokenIn({value}), std::nullopt) << value;
  }
}

TEST(BearerToken, IsMissingIfThereAreTwoHeaders) {
  EXPECT_EQ(TokenIn({"Bearer abc", "Bearer abc"}), std::nullopt);
  EXPECT_EQ(TokenIn({"Basic YTpi", "Bearer abc"}), std::nullopt);
}

}  // namespace
}  // namespace pintle::net
