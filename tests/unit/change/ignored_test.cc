// SPDX-License-Identifier: Apache-2.0
#include "change/ignored.h"

#include "support/expect.h"
#include "support/temporary_directory.h"

namespace pintle::change {
namespace {

using testing::HasSubstr;

const WallTime kNow = ValueOf(FromRfc3339("2026-11-21T12:00:00Z"));

TEST(ParseUntil, AcceptsATimeADayAndASpan) {
  const auto until = [](const char* text) { return ToRfc3339(ValueOf(ParseUntil(text, kNow))); };
  EXPECT_EQ(until("2026-12-24T10:00:00+02:00"), "2026-12-24T08:00:00Z");
  EXPECT_EQ(until("2026-12-24"), "2026-12-24T00:00:00Z");
  EXPECT_EQ(until("90min"), "2026-11-21T13:30:00Z");
  EXPECT_EQ(until("2h"), "2026-11-21T14:00:00Z");
  EXPECT_EQ(until("3d"), "2026-11-24T12:00:00Z");
  EXPECT_EQ(until("1w"), "2026-11-28T12:00:00Z");
}

TEST(ParseUntil, RefusesATimeThatIsPastTooFarAheadOrInvalid) {
  EXPECT_THAT(MessageOf(ParseUntil("2026-11-21", kNow)), HasSubstr("is in the past"));
  EXPECT_THAT(MessageOf(ParseUntil("0d", kNow)), HasSubstr("is in the past"));
  EXPECT_THAT(MessageOf(ParseUntil("2099-01-01", kNow)), HasSubstr("ten years"));
  EXPECT_THAT(MessageOf(ParseUntil("2147483647w", kNow)), HasSubstr("ten years"));
  for (const char* text : {"", "d", "3", "-3d", "3 d", "tomorrow", "2026-13-01", "99999999999d"}) {
    EXPECT_THAT(MessageOf(ParseUntil(text, kNow)), HasSubstr("is not a time")) << text;
  }
}

TEST(IgnoredUntil, CoversAllFilesOfAUnit) {
  const Ignored ignored = {{"app.service", kNow}, {"/etc/motd", kNow}};
  for (const char* about :
       {"app.service", "/etc/systemd/system/app.service", "/etc/systemd/system/app.service.d/10.conf", "/etc/motd"}) {
    EXPECT_EQ(IgnoredUntil(ignored, about), kNow) << about;
  }
  for (const char* about :
       {"app", "/etc/systemd/system/app.service2", "/etc/motd.d/a", "/etc/systemd/system//etc/motd"}) {
    EXPECT_FALSE(IgnoredUntil(ignored, about)) << about;
  }
}

TEST(Ignored, IsKeptUntilItEnds) {
  const TemporaryDirectory directory;
  const Root root = ValueOf(Root::Open(directory.path()));
  EXPECT_TRUE(ValueOf(ReadIgnored(root, kNow)).empty());
  const Ignored ignored = {{"/etc/a", kNow + std::chrono::hours(2)}, {"/etc/b", kNow + std::chrono::hours(1)}};
  EXPECT_EQ(FirstEnd(ignored), kNow + std::chrono::hours(1));
  ASSERT_TRUE(Succeeded(KeepIgnored(root, ignored)));
  EXPECT_EQ(ValueOf(ReadIgnored(root, kNow)).size(), 2U);
  const Ignored later = ValueOf(ReadIgnored(root, kNow + std::chrono::hours(1)));
  ASSERT_EQ(later.size(), 1U);
  EXPECT_EQ(later.front().about, "/etc/a");
  ASSERT_TRUE(Succeeded(KeepIgnored(root, {})));
  EXPECT_FALSE(ValueOf(root.Status(kIgnored)));
}

}  // namespace
}  // namespace pintle::change
