// SPDX-License-Identifier: Apache-2.0
#pragma once

// Starts other programs.

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace pintle::host {

// The directories of programs.  The PATH of this process does not count: in an administrator's shell, it may lead to
// programs that are not the system's.
inline constexpr std::string_view kSearchPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

struct Pipe {
  UniqueFd read;
  UniqueFd write;
};

Result<Pipe> MakePipe();

// A program to start, and its descriptors.
struct Spawn {
  std::vector<std::string> words;        // The first word is a path, or a name that is searched in kSearchPath.
  std::vector<std::string> environment;  // NAME=VALUE; the program gets no other variables.
  std::optional<int> output;             // The descriptor for its standard output; nullopt means /dev/null.
  int errors;                            // The descriptor for its standard error.
};

// Starts the program in a process group of its own, so that all its processes can be ended together.  At its start, no
// signal is blocked or ignored, and its standard input is /dev/null.
Result<pid_t> Start(const Spawn& spawn);

// Returns a descriptor that becomes readable when the child process has ended.  The child must not have been reaped.
Result<UniqueFd> OpenProcess(pid_t pid);

// Waits for the end of a child process, and returns its status in the form of waitpid(2).
int Reap(pid_t pid);

}  // namespace pintle::host
