// SPDX-License-Identifier: Apache-2.0
#include "ctl/progress.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <stdexcept>
#include <string>

#include "base/unique_fd.h"
#include "support/expect.h"
#include "support/refused_calls.h"

namespace pintle::ctl {
namespace {

// Replaces standard error by a terminal during its lifetime.
class Terminal {
 public:
  Terminal() : terminal_(::posix_openpt(O_RDWR | O_NOCTTY)), before_(::dup(STDERR_FILENO)) {
    if (::grantpt(terminal_.get()) != 0 || ::unlockpt(terminal_.get()) != 0) throw std::runtime_error("unlockpt");
    const UniqueFd end(::open(::ptsname(terminal_.get()), O_RDWR | O_NOCTTY));
    ::dup2(end.get(), STDERR_FILENO);
  }
  ~Terminal() { ::dup2(before_.get(), STDERR_FILENO); }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  std::string ReadLine() {
    std::string line;
    char c = 0;
    while (c != '\n' && ::read(terminal_.get(), &c, 1) == 1) line += c;
    return line;
  }

 private:
  UniqueFd terminal_;
  UniqueFd before_;
};

TEST(ProgressLines, ShowActivitiesThatTakeLong) {
  Terminal terminal;
  ProgressLines lines;
  lines.Update({"fetching"});
  EXPECT_EQ(terminal.ReadLine(), "fetching ...\r\n");
}

TEST(ProgressLines, ShowAPercentageOnOneLineAndClearIt) {
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

TEST(ProgressLines, ShowTheNextActivityOnALineOfItsOwn) {
  Terminal terminal;
  ProgressLines lines;
  lines.Update({"fetching", "", 9});
  lines.Update({"applying"});
  EXPECT_EQ(terminal.ReadLine(), "\rfetching: 9 %\r             \rapplying ...\r\n");
}

TEST(ProgressLines, AreNotShownIfNoThreadCanBeStarted) {
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
