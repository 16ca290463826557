// SPDX-License-Identifier: Apache-2.0
#include "ctl/progress.h"

#include <unistd.h>

#include <string>

#include "support/expect.h"
#include "support/refused_calls.h"
#include "unit/ctl/terminal.h"

namespace pintle::ctl {
namespace {

TEST(ProgressLines, PrintAnActivityThatTakesLong) {
  Terminal terminal;
  ProgressLines lines;
  lines.Update({"fetching"});
  EXPECT_EQ(terminal.ReadLine(), "fetching ...\r\n");
}

TEST(ProgressLines, DrawAPercentageInPlaceAndClearIt) {
  Terminal terminal;
  {
    ProgressLines lines;
    lines.Update({"fetching", "downloading\x1b[2J", 9});
    lines.Update({"fetching", "unpacking", 10});
  }
  EXPECT_EQ(::write(STDERR_FILENO, "done\n", 5), 5);
  const std::string first = "fetching: downloading\\x1B[2J, 9 %", second = "fetching: unpacking, 10 %";
  EXPECT_EQ(terminal.ReadLine(), "\r" + first + "\r" + second + std::string(first.size() - second.size(), ' ') + "\r" +
                                     std::string(second.size(), ' ') + "\rdone\r\n");
}

TEST(ProgressLines, PrintTheNextActivityOnALineOfItsOwn) {
  Terminal terminal;
  ProgressLines lines;
  lines.Update({"fetching", "", 9});
  lines.Update({"applying"});
  EXPECT_EQ(terminal.ReadLine(), "\rfetching: 9 %\r             \rapplying ...\r\n");
}

TEST(ProgressLines, AreNotPrintedIfNoThreadCanBeStarted) {
  Terminal terminal;
  WithoutMoreThreads([] {
    ProgressLines lines;
    lines.Update({"fetching"});
    lines.Update({"writing"});
  });
  EXPECT_EQ(::write(STDERR_FILENO, "done\n", 5), 5);
  EXPECT_EQ(terminal.ReadLine(), "done\r\n");
}

}  // namespace
}  // namespace pintle::ctl
