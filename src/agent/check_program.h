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

// Runs the program without a shell, and kills it with all that it has started when it has ended or takes too long.
// Returns what is wrong, as in "failed with status 1: no route to the gateway" or "took longer than 60 s", or nullopt
// if all is well.  The only error is that we were asked to stop.
Result<std::optional<std::string>> RunCheck(const std::string& path, std::chrono::milliseconds limit,
                                            const std::stop_token& stop);

}  // namespace pintle::agent
