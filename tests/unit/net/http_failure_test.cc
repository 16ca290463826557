// SPDX-License-Identifier: Apache-2.0
#include "net/http_failure.h"

#include <gtest/gtest.h>

#include "net/curl_library.h"

namespace pintle::net {
namespace {

std::string TextOf(const std::string& detail) {
  const Error error = Explain({.curl_code = CURLE_OPERATION_TIMEDOUT,
                               .detail = detail,
                               .server = "shop:80",
                               .connect_timeout = std::chrono::seconds(15)});
  return error.message();
}

TEST(HttpFailure, HasTheSameMessageAfterEachAttempt) {
  const std::string begin = "connecting to shop:80 took longer than the limit of 15 s: ";
  EXPECT_EQ(TextOf("Connection timeout after 15001 ms"), begin + "Connection timeout");
  EXPECT_EQ(TextOf("Resolving timed out after 15000 milliseconds"), begin + "Resolving timed out");
  EXPECT_EQ(TextOf("Failed to connect to shop port 80 after 15003 ms: Timeout was reached"),
            begin + "Failed to connect to shop port 80: Timeout was reached");
  for (const char* unknown_error :
       {"SSL connection timeout", "closed after 3", "closed after ms", "closed after 3 bytes", " after "}) {
    EXPECT_EQ(TextOf(unknown_error), begin + unknown_error);
  }
}

}  // namespace
}  // namespace pintle::net
