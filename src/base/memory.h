// SPDX-License-Identifier: Apache-2.0
#pragma once

// Keeps programs small that are idle most of the time.

namespace pintle {

// Gives the heap's free memory back to the kernel.  Call it when there is nothing to do for a while.
void ReleaseIdleMemory();

}  // namespace pintle
