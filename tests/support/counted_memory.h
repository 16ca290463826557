// SPDX-License-Identifier: Apache-2.0
#pragma once

// Counts the memory that `new` has allocated in a program that includes this header, and measures the peak during a
// call.

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace pintle::counted {

inline std::atomic<std::size_t> bytes_now = 0;
inline std::atomic<std::size_t> bytes_peak = 0;

inline void* Allocate(std::size_t size) {
  void* const memory = std::malloc(size);
  if (memory == nullptr) std::abort();
  const std::size_t now = bytes_now += ::malloc_usable_size(memory);
  if (now > bytes_peak) bytes_peak = now;
  return memory;
}

inline void Free(void* memory) {
  bytes_now -= ::malloc_usable_size(memory);
  std::free(memory);
}

// Returns the peak of the memory in use during a call, above the memory in use before it.
template <typename Work>
std::size_t PeakDuring(Work&& work) {
  const std::size_t before = bytes_now;
  bytes_peak = before;
  work();
  return bytes_peak - before;
}

}  // namespace pintle::counted

void* operator new(std::size_t size) { return pintle::counted::Allocate(size); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return pintle::counted::Allocate(size); }
void operator delete(void* memory) noexcept { pintle::counted::Free(memory); }
void operator delete(void* memory, std::size_t) noexcept { pintle::counted::Free(memory); }
