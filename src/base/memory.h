// SPDX-License-Identifier: Apache-2.0
#pragma once

// Returns memory that a mostly idle program does not need to the kernel.

namespace pintle {

// Returns freed heap memory, and drops code and constants that are mapped from files: they stay in the kernel's page
// cache, and those that are used again are mapped again.  Call it when there is nothing to do for a while.
void ReleaseIdleMemory();

}  // namespace pintle
