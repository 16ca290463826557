// SPDX-License-Identifier: Apache-2.0
#include "base/memory.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#define HAS_ANOTHER_HEAP 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_ANOTHER_HEAP 1
#endif
#endif

namespace pintle {
namespace {

// Returns the resident memory in kilobytes.
long ResidentKilobytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::stol(line.substr(6));
  }
  return -1;
}

TEST(Memory, FreedMemoryBelowABlockInUseIsReturnedToTheSystem) {
#ifdef HAS_ANOTHER_HEAP
  GTEST_SKIP() << "the sanitizer keeps freed memory, to find out who uses it";
#endif
  constexpr std::size_t kBlocks = 16 * 1024;
  constexpr std::size_t kBlock = 2048;
  std::vector<std::unique_ptr<std::string>> blocks;
  for (std::size_t i = 0; i < kBlocks; ++i) blocks.push_back(std::make_unique<std::string>(kBlock, 'x'));
  const long before = ResidentKilobytes();
  // The last block stays, so that the heap cannot become shorter.
  blocks.erase(blocks.begin(), blocks.end() - 1);
  ReleaseIdleMemory();
  EXPECT_LT(ResidentKilobytes(), before - static_cast<long>(kBlocks * kBlock / 1024 / 2));
}

TEST(Memory, AWipedSecretIsOverwritten) {
  std::string secret(100, 's');
  const char* const bytes = secret.data();
  Wipe(secret);
  EXPECT_TRUE(secret.empty());
  // A string keeps its memory when it becomes empty.
  for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(bytes[i], '\0') << i;
}

}  // namespace
}  // namespace pintle
