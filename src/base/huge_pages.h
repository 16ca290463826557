// SPDX-License-Identifier: Apache-2.0
#pragma once

// Lets the kernel use huge pages where a program needs much memory: a page fault then brings 2 MiB instead of 4 KiB.

#include <cstddef>

namespace pintle {

// Asks the kernel for huge pages in a large buffer, before anything is written to it.  A buffer in which no huge page
// fits is left alone.
void PreferHugePages(const void* begin, std::size_t size);

// Lets the heap grow in large steps, in which the kernel can use huge pages.  Call this function before the program
// allocates much.
void ExpectLargeHeap();

}  // namespace pintle
