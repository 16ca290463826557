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

// Runs the program without a shell.  When it has ended or takes too long, kills it and all processes that it has
// started.  Returns the problem, as in "failed with status 1: no route to the gateway" or "took longer than 60 s", or
// nullopt if all is well.  The only error is kCancelled, after a request to stop.
Result<std::optional<std::string>> RunCheck(const std::string& path, std::chrono::milliseconds limit,
                                            const std::stop_token& stop);

}  // namespace pintle::agent
