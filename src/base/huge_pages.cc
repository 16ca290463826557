// SPDX-License-Identifier: Apache-2.0
#include "base/huge_pages.h"

#include <malloc.h>
#include <sys/mman.h>

#include <cstdint>

namespace pintle {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

}  // namespace

void PreferHugePages(const void* begin, std::size_t size) {
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  const std::uintptr_t first = (address + kHugePage - 1) & ~(kHugePage - 1);
  const std::uintptr_t end = (address + size) & ~(kHugePage - 1);
  // A kernel without huge pages refuses this, which does no harm.
  if (first < end) (void)::madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);
}

void ExpectLargeHeap() { ::mallopt(M_TOP_PAD, 32 << 20); }

}  // namespace pintle
