// SPDX-License-Identifier: Apache-2.0
#pragma once

// Another program, run to its end.

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"

namespace pintle::host {

struct Program {
  std::vector<std::string> words;        // The first is its name, looked for in the system's own directories.
  std::vector<std::string> environment;  // NAME=VALUE; it gets these and no others.
};

// Returns what it wrote to its output.  If it fails, the error is what it said last.  When asked to stop, it is ended
// with all that it has started.  Meanwhile `each_second` is called about once a second.
Result<std::string> RunProgram(const Program& program, const std::stop_token& stop,
                               const std::function<void()>& each_second = {});

// What a program needs to know of ours: the directories of programs, and how to reach the world outside.
std::vector<std::string> PlainEnvironment();

}  // namespace pintle::host
