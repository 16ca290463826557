// SPDX-License-Identifier: Apache-2.0
#pragma once

// Runs another program and waits for its end.

#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"

namespace pintle::host {

struct Program {
  // The first word is a path, or a name that is searched in the PATH of PlainEnvironment().
  std::vector<std::string> words;
  std::vector<std::string> environment;  // NAME=VALUE; the program gets no other variables.
  // The time that the program may take.  Nullopt is for programs whose time depends on a network; someone must be able
  // to stop them.
  std::optional<std::chrono::milliseconds> patience = {};
};

// Returns the program's standard output.  If the program fails, the error has the end of its standard error.  The
// program's process group gets SIGTERM, and SIGKILL ten seconds later, if `stop` is requested, if the program's
// patience is over (kUnavailable), or if the output is longer than 64 MiB.  If the program leaves processes behind,
// their output is read for two seconds after the program's end.  `each_second` is called about once a second while the
// program runs.
Result<std::string> RunProgram(const Program& program, const std::stop_token& stop,
                               const std::function<void()>& each_second = {});

// Returns the variables that programs need, such as PATH and those for proxies.
std::vector<std::string> PlainEnvironment();

}  // namespace pintle::host
