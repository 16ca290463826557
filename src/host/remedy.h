// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a person can do about the kernel's no to a change of the file tree.

#include <utility>

#include "base/result.h"

namespace pintle::host {

// Tells whether the machine itself cannot do it at the moment, such as with a full or a failing disk.  All else stands
// in the way of one thing, and is often what someone has put in its place.
bool IsFaultOfMachine(const Error& error);

// Puts the remedy before the cause, when there is one: "its file system is full, free some space: write: No space left
// on device".  One that is told already is not told twice.
Error WithRemedy(Error error);

template <typename T>
Result<T> WithRemedy(Result<T> result) {
  if (result) return result;
  return WithRemedy(std::move(result).error());
}

}  // namespace pintle::host
