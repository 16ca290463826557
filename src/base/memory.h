// SPDX-License-Identifier: Apache-2.0
#pragma once

// Gives memory back to the kernel when a program becomes idle, and overwrites secrets that are no longer needed.

#include <string>

namespace pintle {

// Gives the heap's free memory back to the kernel.  Call it when the program has nothing to do for a while.
void ReleaseIdleMemory();

// Overwrites a secret, and makes it empty.
void Wipe(std::string& secret);

}  // namespace pintle
