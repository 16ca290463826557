// SPDX-License-Identifier: Apache-2.0
#pragma once

// A terminal for tests of what a person sees.

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <stdexcept>
#include <string>

#include "base/unique_fd.h"

namespace pintle::ctl {

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

}  // namespace pintle::ctl
