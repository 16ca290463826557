// SPDX-License-Identifier: Apache-2.0
#include "net/http_message.h"

#include "support/expect.h"

namespace pintle::net {
namespace {

// Reads lines up to the one that completes the head.
HttpHead ParsedHead(const std::vector<std::string>& lines) {
  HeadReader reader;
  for (const std::string& line : lines) {
    if (ValueOf(reader.AddLine(line + "\r\n")) == HeadReader::State::kComplete) return reader.head();
  }
  ADD_FAILURE() << "the head was not complete";
  return {};
}

TEST(HttpHead, HasStatusVersionAndHeaders) {
  const HttpHead head = ParsedHead({"HTTP/1.1 404 Not Found", "Content-Type:  text/plain ", "empty:", ""});
  EXPECT_EQ(head.status, 404);
  EXPECT_EQ(head.version, HttpVersion::kHttp1);
  EXPECT_EQ(head.headers, (std::vector<Header>{{"Content-Type", "text/plain"}, {"empty", ""}}));
  EXPECT_EQ(ParsedHead({"HTTP/2 200 ", ""}).version, HttpVersion::kHttp2);
}

TEST(HttpHead, FindsHeadersInAnyCase) {
  const HttpHead head = ParsedHead({"HTTP/2 200", "retry-after: 1", "Retry-After: 2", ""});
  EXPECT_EQ(head.Find("Retry-After"), "1");
  EXPECT_EQ(head.Find("Retry"), std::nullopt);
}

TEST(HttpHead, MayFollowInformationalHeads) {
  const HttpHead head = ParsedHead({"HTTP/1.1 100 Continue", "X: 1", "", "HTTP/1.1 204 No Content", "Y: 2", ""});
  EXPECT_EQ(head.status, 204);
  EXPECT_EQ(head.headers, (std::vector<Header>{{"Y", "2"}}));
}

TEST(HttpHead, HasALimitOfLength) {
  HeadReader reader;
  Result<HeadReader::State> state = reader.AddLine("HTTP/1.1 200 OK\r\n");
  for (int i = 0; i < 300 && state; ++i) state = reader.AddLine("X: " + std::string(1000, 'x') + "\r\n");
  EXPECT_EQ(MessageOf(state), "the head of the answer is longer than 262144 bytes");
}

TEST(HttpHead, IgnoresMalformedLines) {
  const HttpHead head = ParsedHead({"HTTP/", "HTTP/1.1", "HTTP/1.1 200", "no colon", ""});
  EXPECT_EQ(head.status, 200);
  EXPECT_TRUE(head.headers.empty());
}

}  // namespace
}  // namespace pintle::net
