// SPDX-License-Identifier: Apache-2.0
#include "dashboard/updates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pintle::dashboard {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kReload = "event: reload\ndata: 1\n\n";

// Returns the next event, or "" if there is none yet.
std::string NextOf(net::HttpStream& stream) {
  const auto event = stream.Next([] {});
  return event ? *event : "";
}

// Returns the stream after its beginning, which all streams have.
std::shared_ptr<net::HttpStream> StreamOf(Updates& updates, std::string_view version) {
  auto stream = updates.StreamFrom(version);
  EXPECT_EQ(NextOf(*stream), "retry: 2000\n\n");
  return stream;
}

TEST(Updates, SendsEachChangeSinceTheVersionOfTheBrowser) {
  Updates updates("abc");
  const std::string version = updates.Version();
  const auto first = StreamOf(updates, version);
  EXPECT_EQ(NextOf(*first), "");
  updates.Add({{"a", "<p id=\"a\">1</p>"}});
  updates.Add({{"a", "<p id=\"a\">2</p>"}});
  EXPECT_EQ(NextOf(*first), "id: abc-1\ndata: [[\"a\",\"<p id=\\\"a\\\">1</p>\"]]\n\n");
  EXPECT_THAT(NextOf(*first), StartsWith("id: abc-2\n"));
  EXPECT_EQ(NextOf(*first), "");
  const auto later = StreamOf(updates, "abc-1");
  EXPECT_THAT(NextOf(*later), HasSubstr(">2<"));
}

TEST(Updates, WakesAWaitingBrowserOnce) {
  Updates updates("abc");
  const auto stream = StreamOf(updates, updates.Version());
  int woken = 0;
  EXPECT_EQ(stream->Next([&] { ++woken; }), nullptr);
  updates.Add({{"a", "1"}});
  updates.Add({{"a", "2"}});
  EXPECT_EQ(woken, 1);
}

// The server ends a stream that has had no piece for a while, so a comment keeps it open.
TEST(Updates, SendsACommentToABrowserThatWaitsForLong) {
  Updates updates("abc");
  updates.KeepAlive();
  const auto stream = StreamOf(updates, updates.Version());
  int woken = 0;
  EXPECT_EQ(stream->Next([&] { ++woken; }), nullptr) << "a new stream needs no comment";
  updates.KeepAlive();
  EXPECT_EQ(woken, 1);
  EXPECT_EQ(NextOf(*stream), ": nothing has changed\n\n");
  EXPECT_EQ(NextOf(*stream), "");
  EXPECT_EQ(updates.Version(), "abc-0") << "a comment is no change";
  // After a change, no comment is due.
  updates.KeepAlive();
  updates.Add({{"a", "1"}});
  EXPECT_THAT(NextOf(*stream), StartsWith("id: abc-1\n"));
  EXPECT_EQ(NextOf(*stream), "");
}

TEST(Updates, MakesABrowserLoadThePageAgainIfItsVersionIsUnknown) {
  Updates updates("abc");
  for (const std::string version :
       {"", "xyz-0", "abc", "abc-", "abc-1", "abc-0x", "abc--1", "abc-99999999999999999999"}) {
    const auto stream = StreamOf(updates, version);
    EXPECT_EQ(NextOf(*stream), kReload) << version;
    EXPECT_EQ(NextOf(*stream), "") << version;
  }
}

TEST(Updates, MakesABrowserLoadThePageAgainIfItHasMissedTooMuch) {
  Updates updates("abc");
  const auto follower = StreamOf(updates, "abc-0");
  for (int i = 0; i < 100; ++i) updates.Add({{"a", "1"}});
  EXPECT_EQ(NextOf(*StreamOf(updates, "abc-10")), kReload);
  EXPECT_THAT(NextOf(*StreamOf(updates, "abc-90")), StartsWith("id: abc-91\n"));
}

TEST(Updates, KeepsNothingWithoutAFollower) {
  Updates updates("abc");
  EXPECT_FALSE(updates.HasFollowers());
  updates.Add({{"a", "1"}});
  EXPECT_EQ(NextOf(*StreamOf(updates, "abc-0")), kReload);
  EXPECT_FALSE(updates.HasFollowers()) << "the stream has ended";
  const auto stream = StreamOf(updates, "abc-1");
  EXPECT_TRUE(updates.HasFollowers());
}

// Loading a large page over a slow connection may take longer than the next change.
TEST(Updates, KeepsTheChangesForABrowserThatIsLoadingThePage) {
  Updates updates("abc");
  const std::string version = updates.Version();
  updates.ExpectFollower();
  EXPECT_TRUE(updates.HasFollowers());
  for (int i = 0; i < 10; ++i) updates.Add({{"a", "1"}});
  EXPECT_THAT(NextOf(*StreamOf(updates, version)), StartsWith("id: abc-1\n"));
  for (int i = 0; i < 30; ++i) updates.Add({{"a", "1"}});
  EXPECT_FALSE(updates.HasFollowers()) << "it does not follow the page";
  EXPECT_EQ(NextOf(*StreamOf(updates, version)), kReload);
}

TEST(Updates, KeepsALimitedAmountOfText) {
  Updates updates("abc");
  const auto first = StreamOf(updates, updates.Version());
  const auto second = StreamOf(updates, updates.Version());
  const std::string long_text(1 << 20, 'x');
  for (int i = 0; i < 10; ++i) {
    updates.Add({{"a", long_text}});
    EXPECT_THAT(NextOf(*first), HasSubstr(long_text));
  }
  // A browser that is so far behind gets the whole page, which has less text than all these changes.
  EXPECT_EQ(NextOf(*second), kReload);
  // A change that is longer than all that is kept reaches those who are not behind.
  updates.Add({{"a", std::string(20 << 20, 'x')}});
  EXPECT_THAT(NextOf(*first), StartsWith("id: abc-11\n"));
}

TEST(Updates, MakesAllBrowsersLoadThePageAgain) {
  Updates updates("abc");
  const auto stream = StreamOf(updates, "abc-0");
  updates.AddReload();
  EXPECT_EQ(NextOf(*stream), std::string("id: abc-1\n") + kReload);
}

}  // namespace
}  // namespace pintle::dashboard
