// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a person can do about the kernel's no to a change of the file tree.

#include <utility>

#include "base/result.h"

namespace pintle::host {

// Puts the remedy before the cause, when there is one: "its file system is full, free some space: write: No space left
// on device".  One that is told already is not told twice.
Error WithRemedy(Error error);

template <typename T>
Result<T> WithRemedy(Result<T> result) {
  if (result) return result;
  return WithRemedy(std::move(result).error());
}

}  // namespace pintle::host
