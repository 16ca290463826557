// SPDX-License-Identifier: Apache-2.0
#pragma once

// While an UnwritableOutput exists, no write to standard output succeeds, as on a full disk.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdio_ext.h>
#include <unistd.h>

#include <cstdio>

#include "base/unique_fd.h"

namespace pintle {

class UnwritableOutput {
 public:
  UnwritableOutput() {
    std::fflush(stdout);
    const UniqueFd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
    EXPECT_GE(::dup2(full.get(), STDOUT_FILENO), 0);
  }
  ~UnwritableOutput() {
    ::__fpurge(stdout);
    EXPECT_GE(::dup2(real_.get(), STDOUT_FILENO), 0);
    std::clearerr(stdout);
  }
  UnwritableOutput(const UnwritableOutput&) = delete;
  UnwritableOutput& operator=(const UnwritableOutput&) = delete;

 private:
  const UniqueFd real_{::dup(STDOUT_FILENO)};
};

}  // namespace pintle
