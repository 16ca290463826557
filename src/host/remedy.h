// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a person can do about the kernel's no to a change of the file tree.

#include "base/result.h"

namespace pintle::host {

// Puts the remedy before the cause, when there is one: "its file system is full, free some space: write: No space left
// on device".
Error WithRemedy(Error error);

}  // namespace pintle::host
