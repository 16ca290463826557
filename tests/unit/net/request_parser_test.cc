// SPDX-License-Identifier: Apache-2.0
#include "net/request_parser.h"

#include <gtest/gtest.h>

namespace pintle::net {
namespace {

using State = RequestParser::State;

constexpr RequestParser::Limits kLimits = {.bytes = 4096, .fields = 3};

State StateAfter(std::string received) { return RequestParser(kLimits).Parse(received); }

AfterAnswer WantedAfter(std::string received) {
  RequestParser parser(kLimits);
  EXPECT_EQ(parser.Parse(received), State::kComplete);
  return parser.WantedAfterAnswer();
}

TEST(RequestParser, ReturnsTheRequestOnceItsHeadIsComplete) {
  RequestParser parser(kLimits);
  std::string received;
  for (const char c : std::string_view("GET /a?b=1 HTTP/1.1\r\nHost: a\r\nX-Name:  value\r\n\r")) {
    received += c;
    ASSERT_EQ(parser.Parse(received), State::kIncomplete);
  }
  received += '\n';
  ASSERT_EQ(parser.Parse(received), State::kComplete);
  const IncomingRequest request = parser.Request("192.0.2.1:80");
  EXPECT_EQ(request.method, "GET");
  EXPECT_EQ(request.target, "/a?b=1");
  EXPECT_EQ(request.peer, "192.0.2.1:80");
  EXPECT_EQ(request.headers.size(), 2U);
  EXPECT_EQ(request.Find("x-name"), "value");
}

TEST(RequestParser, LeavesTheBytesBehindTheHead) {
  std::string received = "GET / HTTP/1.1\r\nHost: a\r\n\r\nGET /next";
  EXPECT_EQ(RequestParser(kLimits).Parse(received), State::kComplete);
  EXPECT_EQ(received, "GET /next");
}

TEST(RequestParser, RefusesAHeadBeyondItsLimits) {
  EXPECT_EQ(StateAfter("GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(8192, 'x') + "\r\n\r\n"), State::kTooLarge);
  EXPECT_EQ(StateAfter("GET / HTTP/1.1\r\nHost: a\r\na:\r\nb:\r\n\r\n"), State::kComplete);
  EXPECT_EQ(StateAfter("GET / HTTP/1.1\r\nHost: a\r\na:\r\nb:\r\nc:\r\n\r\n"), State::kTooLarge);
}

TEST(RequestParser, RefusesWhatIsNotHttp) {
  EXPECT_EQ(StateAfter("\x16\x03\x01\x02\r\n\r\n"), State::kMalformed);
  EXPECT_EQ(StateAfter("GET / HTTP/1.1\r\nno colon\r\n\r\n"), State::kMalformed);
}

TEST(RequestParser, NeedsExactlyOneHostSinceHttp11) {
  EXPECT_EQ(StateAfter("GET / HTTP/1.1\r\n\r\n"), State::kMalformed);
  EXPECT_EQ(StateAfter("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"), State::kMalformed);
  EXPECT_EQ(StateAfter("GET / HTTP/1.0\r\n\r\n"), State::kComplete);
}

TEST(RequestParser, KnowsWhetherTheClientKeepsItsConnection) {
  EXPECT_EQ(WantedAfter("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), AfterAnswer::kKeep);
  EXPECT_EQ(WantedAfter("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"), AfterAnswer::kClose);
  EXPECT_EQ(WantedAfter("GET / HTTP/1.0\r\n\r\n"), AfterAnswer::kClose);
  EXPECT_EQ(WantedAfter("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"), AfterAnswer::kKeepAsAsked);
}

TEST(RequestParser, ClosesTheConnectionAfterARequestWithABody) {
  EXPECT_EQ(WantedAfter("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n"), AfterAnswer::kKeep);
  EXPECT_EQ(WantedAfter("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n"), AfterAnswer::kClose);
  EXPECT_EQ(WantedAfter("GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"), AfterAnswer::kClose);
}

}  // namespace
}  // namespace pintle::net
