// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides whether the node is healthy after a change and a boot.  If it is not, the change is undone.
//
// One round checks everything and returns all problems.  Right after a boot many services are not running yet, so
// rounds are repeated until there are no problems or the time limit has passed.

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/root.h"
#include "host/systemd/systemd.h"

namespace pintle::agent {

struct HealthSettings {
  std::vector<std::string> units;  // These must be active.
  // All programs in this directory must end with status 0.  Hidden files and files that are not executable are left
  // out.
  std::string check_directory;
  std::chrono::milliseconds limit = std::chrono::minutes(10);
  std::chrono::milliseconds check_limit = std::chrono::minutes(1);  // The limit for one program.
};

// Makes one round, on a worker's thread.  Checks the units, then boot-complete.target if it has a job or if a loaded
// unit wants or requires it, and then the programs in the order of their names.  A program that users other than root
// may change is not run, and counts as a problem.  An empty list means that the node is healthy.  The only error is
// kCancelled, after a request to stop.
Result<std::vector<std::string>> FindHealthProblems(host::Systemd& systemd, const Root& root,
                                                    const HealthSettings& settings, const std::stop_token& stop);

struct Well {};
struct AskAgain {
  std::chrono::milliseconds after;
};
struct Unwell {
  std::string why;
};
using HealthVerdict = std::variant<Well, AskAgain, Unwell>;

// Judges a round.  `rounds` counts this round and those before it; `passed` is the time since the first round began.
HealthVerdict Judge(const std::vector<std::string>& problems, int rounds, std::chrono::milliseconds passed,
                    std::chrono::milliseconds limit);

}  // namespace pintle::agent
