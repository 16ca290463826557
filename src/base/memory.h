// SPDX-License-Identifier: Apache-2.0
#pragma once

// Memory that a program which is idle most of the time need not hold.

namespace pintle {

// Gives back what was freed, and lets go of code and constants that are mapped from files: the kernel has them in its
// cache, and maps those that are used again.  To be called when there is nothing to do for a while.
void ReleaseIdleMemory();

}  // namespace pintle
