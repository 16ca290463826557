// SPDX-License-Identifier: Apache-2.0
#include "net/listen_address.h"

#include "support/expect.h"

namespace pintle::net {
namespace {

TEST(ListenAddress, IsReadAndWrittenAsPeopleWriteIt) {
  for (const std::string text : {"127.0.0.1:8080", "[::1]:22623", "0.0.0.0:0", "[::]:22623"}) {
    EXPECT_EQ(ToText(ValueOf(ParseListenAddress(text))), text);
  }
  EXPECT_EQ(ValueOf(ParseListenAddress(":22623")), (ListenAddress{"::", 22623}));
}

TEST(ListenAddress, IsRefusedWithTheExpectedForm) {
  for (const std::string text : {"", "8080", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "::1:80", "[127.0.0.1]:80",
                                 "localhost:80", "127.0.0.1:80x", "[::1:80"}) {
    EXPECT_EQ(MessageOf(ParseListenAddress(text)),
              "\"" + text + "\" is not an address to listen at: it must be like 127.0.0.1:8080, [::1]:8080 or :8080");
  }
}

TEST(ListenAddress, KnowsTheLoopbackAddresses) {
  EXPECT_TRUE(IsLoopback({"127.0.0.1", 1}));
  EXPECT_TRUE(IsLoopback({"127.9.9.9", 1}));
  EXPECT_TRUE(IsLoopback({"::1", 1}));
  EXPECT_FALSE(IsLoopback({"0.0.0.0", 1}));
  EXPECT_FALSE(IsLoopback({"::", 1}));
  EXPECT_FALSE(IsLoopback({"10.0.0.1", 1}));
}

}  // namespace
}  // namespace pintle::net
