// SPDX-License-Identifier: Apache-2.0
#pragma once

// Runs another program and waits for its end.

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"

namespace pintle::host {

struct Program {
  std::vector<std::string> words;        // The first is the name, which is searched in the system's directories.
  std::vector<std::string> environment;  // NAME=VALUE; the program gets no other variables.
};

// Returns the program's output.  If it fails, the error has the end of what it wrote to stderr.  On a request to
// stop, it is ended with all processes that it has started.  `each_second` is called about once a second while it
// runs.
Result<std::string> RunProgram(const Program& program, const std::stop_token& stop,
                               const std::function<void()>& each_second = {});

// Returns the variables that programs need: PATH, and the proxies.
std::vector<std::string> PlainEnvironment();

}  // namespace pintle::host
