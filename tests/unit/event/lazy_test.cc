// SPDX-License-Identifier: Apache-2.0
#include "event/lazy.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace pintle::event {
namespace {

TEST(Lazy, IsMadeWhenItIsAskedForAndOnce) {
  int made = 0;
  const Lazy<std::string> lazy([&] {
    ++made;
    return std::string("dear");
  });
  EXPECT_EQ(made, 0);
  EXPECT_EQ(lazy.Get(), "dear");
  EXPECT_EQ(&lazy.Get(), &lazy.Get());
  EXPECT_EQ(made, 1);
}

TEST(Lazy, IsMadeOnceForManyThreads) {
  std::atomic<int> made = 0;
  const Lazy<int> lazy([&] { return ++made; });
  std::vector<std::thread> threads;
  std::atomic<int> sum = 0;
  for (int i = 0; i < 8; ++i) threads.emplace_back([&] { sum += lazy.Get(); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(made, 1);
  EXPECT_EQ(sum, 8);
}

TEST(Lazy, LetsGoOfWhatItWasMadeFrom) {
  auto source = std::make_shared<int>(7);
  const Lazy<int> lazy([source] { return *source; });
  EXPECT_EQ(source.use_count(), 2);
  EXPECT_EQ(lazy.Get(), 7);
  EXPECT_EQ(source.use_count(), 1);
}

}  // namespace
}  // namespace pintle::event
