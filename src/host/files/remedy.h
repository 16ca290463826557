// SPDX-License-Identifier: Apache-2.0
#pragma once

// Explains what a person can do when the kernel refuses a change of the file tree.

#include <utility>

#include "base/result.h"

namespace pintle::host {

// Returns whether the cause is the state of the machine, such as a full or failing disk; this state may pass.  The
// cause of any other error is at the path itself: often someone has put something else there.
bool IsFaultOfMachine(const Error& error);

// Puts the remedy before the cause, if one is known: "the file system is full; free some space or inodes: write: No
// space left on device".  A remedy that the message already has is not repeated.
Error WithRemedy(Error error);

template <typename T>
Result<T> WithRemedy(Result<T> result) {
  if (result) return result;
  return WithRemedy(std::move(result).error());
}

}  // namespace pintle::host
