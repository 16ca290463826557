// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "base/utf8.h"
#include "support/expect.h"

namespace pintle::log {
namespace {

constexpr MessageId kTestEvent("0123456789abcdef0123456789abcdef");

const Entry kEntry = {
    .level = Level::kWarning,
    .text = "the drain takes long",
    .message_id = std::string(kTestEvent.hex()),
    .fields = {{"PINTLE_POD", "web-1"}, {"PINTLE_REASON", "two\nlines"}},
};

TEST(Log, OnStderrIsOneLineWithTheFieldsBehind) {
  EXPECT_EQ(StderrLine("pintled", kEntry),
            "pintled: warning: the drain takes long [PINTLE_POD=web-1 PINTLE_REASON=two\\nlines]\n");
}

TEST(Log, EscapesLineBreaksAndTerminalSequences) {
  Entry entry;
  entry.text = "a\nb\x1b[2Jc";
  EXPECT_EQ(StderrLine("pintle", entry), "pintle: a\\nb\\x1B[2Jc\n");
}

TEST(Log, CutsAnOverlongMessage) {
  Entry entry;
  for (int i = 0; i < 4'000'000; ++i) entry.text += "\u20ac";
  entry.fields = {{"PINTLE_ERROR", entry.text}};
  EXPECT_LT(StderrLine("pintle", entry).size(), 20'000U);
  for (const std::string& field : JournalFields(entry)) {
    EXPECT_LT(field.size(), 10'000U);
    EXPECT_TRUE(IsUtf8(field));
  }
  EXPECT_THAT(JournalFields(entry),
              testing::Contains(testing::ContainsRegex("^MESSAGE=.*[.]{3} .39972.. more characters.$")));
}

TEST(Log, EscapesControlCharactersButNotLineBreaksInTheJournal) {
  Entry entry;
  entry.text = "a\x1b[2J\nb\xff";
  EXPECT_THAT(JournalFields(entry), testing::Contains("MESSAGE=a\\x1B[2J\nb\\xFF"));
}

TEST(Log, InTheJournalHasPriorityMessageIdAndFieldsAsTheyAre) {
  const std::vector<std::string> fields = JournalFields(kEntry);
  EXPECT_THAT(fields, testing::IsSupersetOf({"MESSAGE=the drain takes long", "PRIORITY=4",
                                             "MESSAGE_ID=0123456789abcdef0123456789abcdef", "PINTLE_POD=web-1",
                                             "PINTLE_REASON=two\nlines"}));
}

TEST(Log, OmitsAnEmptyMessageId) {
  EXPECT_THAT(JournalFields(Entry{}), testing::Not(testing::Contains(testing::StartsWith("MESSAGE_ID="))));
}

TEST(Log, GoesToStderrWhenThatIsNotTheJournal) {
  testing::internal::CaptureStderr();
  Warning("careful", kTestEvent, {{"PINTLE_UNIT", "a.service"}});
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::EndsWith(": warning: careful [PINTLE_UNIT=a.service]\n"));
}

TEST(JournalStream, IsRecognisedByDeviceAndInode) {
  EXPECT_TRUE(IsJournalStream("9:4711", 9, 4711));
  EXPECT_FALSE(IsJournalStream("9:4711", 9, 4712));
  EXPECT_FALSE(IsJournalStream("", 0, 0));
}

}  // namespace
}  // namespace pintle::log
