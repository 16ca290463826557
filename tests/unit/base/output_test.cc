// SPDX-License-Identifier: Apache-2.0
#include "base/output.h"

#include <gmock/gmock.h>

#include <cstdio>
#include <string>

#include "support/unwritable_output.h"

namespace pintle {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

TEST(Output, PrintsAnAnswerAsItIs) {
  testing::internal::CaptureStdout();
  Print("a\x1b[31m\n");
  EXPECT_TRUE(FlushOutput());
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "a\x1b[31m\n");
}

TEST(Output, EscapesControlCharactersOfMessages) {
  testing::internal::CaptureStderr();
  PrintToStderr("one\x1b[31m\ntwo\n");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "one\\x1B[31m\ntwo\n");
}

TEST(Output, ReportsAShortAnswerThatCannotBeWrittenAtTheEnd) {
  const UnwritableOutput full;
  testing::internal::CaptureStderr();
  Print("short");
  EXPECT_FALSE(FlushOutput());
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              EndsWith(": cannot write to standard output: No space left on device\n"));
}

// The buffer of a long answer is written before the end, so the cause is known only then.
TEST(Output, ReportsALongAnswerThatCannotBeWrittenOnce) {
  const UnwritableOutput full;
  testing::internal::CaptureStderr();
  for (int i = 0; i < 3; ++i) Print(std::string(1 << 20, 'x'));
  EXPECT_FALSE(FlushOutput());
  const std::string reported = testing::internal::GetCapturedStderr();
  const std::string message = "cannot write to standard output: No space left on device\n";
  EXPECT_THAT(reported, HasSubstr(message));
  EXPECT_EQ(reported.find(message), reported.rfind(message));
}

}  // namespace
}  // namespace pintle
