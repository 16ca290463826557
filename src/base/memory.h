// SPDX-License-Identifier: Apache-2.0
#pragma once

// Keeps the heap of a long-running program small, and overwrites secrets that are no longer needed.

#include <string>

namespace pintle {

// Makes all threads share one heap, because each heap would keep freed memory of its own.  Large blocks get mappings of
// their own, so that a freed config leaves no hole in the heap.  Call this function before the first thread is started.
void KeepHeapSmall();

// Gives the heap's free memory back to the kernel.  Call this function when the program has nothing to do for a while.
void ReleaseIdleMemory();

// Overwrites a secret, and makes it empty.
void Wipe(std::string& secret);

}  // namespace pintle
