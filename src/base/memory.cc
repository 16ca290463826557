// SPDX-License-Identifier: Apache-2.0
#include "base/memory.h"

#include <malloc.h>
#include <sys/mman.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>

namespace pintle {
namespace {

struct Mapping {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  // Whether all pages are the same as in the file that they are mapped from.  Pages of relocated constants are not,
  // even where they have become read-only, and dropping them would lose them.
  bool is_as_in_file = false;
};

// Parses "7f5c0a000000-7f5c0a021000 r-xp 00026000 fd:00 1234   /usr/lib/libc.so.6".
bool ReadHeader(const char* line, Mapping& mapping) {
  unsigned long long begin = 0;
  unsigned long long end = 0;
  std::array<char, 5> permissions = {};
  if (std::sscanf(line, "%llx-%llx %4s ", &begin, &end, permissions.data()) != 3) return false;
  const bool is_of_file = std::strchr(line, '/') != nullptr;
  mapping = {static_cast<std::uintptr_t>(begin), static_cast<std::uintptr_t>(end), is_of_file && permissions[1] != 'w'};
  return true;
}

// Recognises lines such as "Anonymous:           12 kB".
bool SaysIsChanged(const char* line) {
  for (const char* key : {"Private_Dirty: %llu", "Anonymous: %llu", "Swap: %llu"}) {
    unsigned long long kilobytes = 0;
    if (std::sscanf(line, key, &kilobytes) == 1 && kilobytes != 0) return true;
  }
  return false;
}

bool IsLastOfMapping(const char* line) { return std::strncmp(line, "VmFlags:", 8) == 0; }

}  // namespace

void ReleaseIdleMemory() {
  ::malloc_trim(0);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> smaps(std::fopen("/proc/self/smaps", "re"), std::fclose);
  if (!smaps) return;
  std::array<char, 4096> line = {};
  Mapping mapping;
  while (std::fgets(line.data(), line.size(), smaps.get()) != nullptr) {
    if (ReadHeader(line.data(), mapping)) continue;
    if (SaysIsChanged(line.data())) mapping.is_as_in_file = false;
    if (!IsLastOfMapping(line.data()) || !mapping.is_as_in_file) continue;
    // A failure does no harm: the pages stay where they are.
    static_cast<void>(::madvise(reinterpret_cast<void*>(mapping.begin), mapping.end - mapping.begin, MADV_DONTNEED));
  }
}

}  // namespace pintle
