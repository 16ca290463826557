// SPDX-License-Identifier: Apache-2.0
#include "base/memory.h"

#include <malloc.h>
#include <string.h>
#include <sys/mman.h>

#include <cstdint>

namespace pintle {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

}  // namespace

void PreferHugePages(const void* begin, std::size_t size) {
  // madvise() needs the address of a page.
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  const std::uintptr_t first = (address + kHugePage - 1) & ~(kHugePage - 1);
  const std::uintptr_t end = (address + size) & ~(kHugePage - 1);
  // A kernel without huge pages refuses this, which does no harm.
  if (first < end) (void)::madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);
}

void ExpectLargeHeap() { ::mallopt(M_TOP_PAD, 32 << 20); }

void ReleaseIdleMemory() { ::malloc_trim(0); }

void Wipe(std::string& secret) {
  // A compiler leaves out a memset() of memory that is not read again.
  ::explicit_bzero(secret.data(), secret.size());
  secret.clear();
}

}  // namespace pintle
