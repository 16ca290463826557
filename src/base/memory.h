// SPDX-License-Identifier: Apache-2.0
#pragma once

// Returns memory that a mostly idle program does not need to the kernel.

namespace pintle {

// Returns the freed memory of the heap.  Call it when there is nothing to do for a while.
void ReleaseIdleMemory();

}  // namespace pintle
