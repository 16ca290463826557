// SPDX-License-Identifier: Apache-2.0
#pragma once

// The start of another program.

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace pintle::host {

struct Pipe {
  UniqueFd read;
  UniqueFd write;
};

Result<Pipe> MakePipe();

struct Spawn {
  std::vector<std::string> words;  // The first is its name, looked for as the environment of ours says, or a path.
  std::vector<std::string> environment;  // NAME=VALUE; it gets these and no others.
  std::optional<int> output;             // Nothing: what it says is lost.
  int complaint;                         // For what it says on stderr.
};

// In a process group of its own, so that what it starts can be ended with it; with no signals blocked or ignored, and
// nothing to read.
Result<pid_t> Start(const Spawn& spawn);

}  // namespace pintle::host
