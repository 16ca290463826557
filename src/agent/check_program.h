// SPDX-License-Identifier: Apache-2.0
#pragma once

// Runs a program that checks whether something is well.  Its exit status is 0 if all is well; otherwise the last line
// on its stderr is the reason.

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>

#include "base/result.h"

namespace pintle::agent {

// Runs the program without a shell, in a process group of its own.  When the program has ended, when `limit` has
// passed, or when a stop is requested, kills all processes of this group.  Returns nullopt if the program has ended
// with status 0, or else the problem, such as "failed with status 1: no route to the gateway" or "took longer than 60
// s".  The only error is kCancelled, after a request to stop.
Result<std::optional<std::string>> RunCheck(const std::string& path, std::chrono::milliseconds limit,
                                            const std::stop_token& stop);

}  // namespace pintle::agent
