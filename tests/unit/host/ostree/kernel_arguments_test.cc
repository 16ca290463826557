// SPDX-License-Identifier: Apache-2.0
#include "host/ostree/kernel_arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pintle::host {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Arguments = std::vector<std::string>;

TEST(SplitKernelArguments, KeepsQuotedPartsTogether) {
  EXPECT_THAT(SplitKernelArguments("  rw  dyndbg=\"file a.c +p\"\tquiet\n"),
              ElementsAre("rw", "dyndbg=\"file a.c +p\"", "quiet"));
  EXPECT_THAT(SplitKernelArguments(""), IsEmpty());
}

TEST(MergedKernelArguments, AppendsMissingArguments) {
  const Arguments current = {"root=LABEL=root", "rw"}, add = {"b=2", "a=1"};
  EXPECT_THAT(MergedKernelArguments(current, {}, add), ElementsAre("root=LABEL=root", "rw", "b=2", "a=1"));
}

TEST(MergedKernelArguments, KeepsThePlaceOfExistingArguments) {
  const Arguments current = {"a=1", "rw", "a=1"}, add = {"a=1", "b", "b"};
  EXPECT_THAT(MergedKernelArguments(current, {}, add), ElementsAre("a=1", "rw", "b"));
}

TEST(MergedKernelArguments, RemovesEveryOccurrenceOfAnArgument) {
  const Arguments current = {"console=tty0", "a=1", "a=2", "a=1"}, remove = {"a=1", "absent"};
  EXPECT_THAT(MergedKernelArguments(current, remove, {}), ElementsAre("console=tty0", "a=2"));
}

TEST(MergedKernelArguments, KeepsOtherArgumentsThatOccurTwice) {
  const Arguments current = {"console=tty0", "rd.break", "console=tty0"};
  EXPECT_EQ(MergedKernelArguments(current, {}, {}), current);
}

TEST(MergedKernelArguments, KeepsAnArgumentThatIsBothAddedAndRemoved) {
  const Arguments current = {"a", "b"}, both = {"a"};
  EXPECT_THAT(MergedKernelArguments(current, both, both), ElementsAre("a", "b"));
}

TEST(MergedKernelArguments, ChangesNothingTheSecondTime) {
  const Arguments current = {"a", "b", "a", "c"}, remove = {"c"}, add = {"d", "a"};
  const Arguments once = MergedKernelArguments(current, remove, add);
  EXPECT_EQ(MergedKernelArguments(once, remove, add), once);
}

}  // namespace
}  // namespace pintle::host
