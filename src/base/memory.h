// SPDX-License-Identifier: Apache-2.0
#pragma once

// Prepares for much memory, gives memory back to the kernel, and overwrites secrets that are no longer needed.

#include <cstddef>
#include <string>

namespace pintle {

// Asks the kernel for huge pages in a large buffer, before anything is written to it.  A page fault then brings 2 MiB
// instead of 4 KiB.  Smaller buffers are left alone.
void PreferHugePages(const void* begin, std::size_t size);

// Lets the heap grow in large steps, in which the kernel can use huge pages.  Call it before much is allocated.
void ExpectLargeHeap();

// Gives the heap's free memory back to the kernel.  Call it when the program has nothing to do for a while.
void ReleaseIdleMemory();

// Overwrites a secret, and makes it empty.
void Wipe(std::string& secret);

}  // namespace pintle
