// SPDX-License-Identifier: Apache-2.0
#include "base/memory.h"

#include <malloc.h>
#include <string.h>

namespace pintle {

void KeepHeapSmall() {
  ::mallopt(M_ARENA_MAX, 1);
  // Without this call, glibc would raise the threshold each time a block with a mapping of its own is freed.
  ::mallopt(M_MMAP_THRESHOLD, 128 << 10);
}

void ReleaseIdleMemory() { ::malloc_trim(0); }

void Wipe(std::string& secret) {
  // A compiler leaves out a memset() of memory that is not read again.
  ::explicit_bzero(secret.data(), secret.size());
  secret.clear();
}

}  // namespace pintle
