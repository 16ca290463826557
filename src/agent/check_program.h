// SPDX-License-Identifier: Apache-2.0
#pragma once

// A program that tells whether something is well: by status 0 that it is, by any other and its last line on stderr what
// is wrong.

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>

#include "base/result.h"

namespace pintle::agent {

// Runs it without a shell and ends it, with all that it has started, when it is over or takes too long.  Returns what
// is wrong: "failed with status 1: no route to the gateway", "took longer than 60 s"; nothing if all is well.  The only
// error is that we were asked to stop.
Result<std::optional<std::string>> RunCheck(const std::string& path, std::chrono::milliseconds limit,
                                            const std::stop_token& stop);

}  // namespace pintle::agent
