// SPDX-License-Identifier: Apache-2.0
#include "event/heartbeat.h"

#include <functional>
#include <set>
#include <thread>

#include "event/loop.h"
#include "support/expect.h"
#include "unit/event/patience.h"

namespace pintle::event {
namespace {

using namespace std::chrono_literals;

TEST(Heartbeat, ReturnsTheLoopsLastTurnToOtherThreads) {
  const auto loop = ValueOf(Loop::Create());
  const MonotonicTime before = SystemClock().Monotonic();
  const Heartbeat heartbeat(*loop, 1ms);
  const MonotonicTime first = heartbeat.last();
  EXPECT_GE(first, before);
  EXPECT_LE(first, SystemClock().Monotonic());

  // The loop does not run, so there is no beat.
  MonotonicTime seen_elsewhere;
  std::thread([&] {
    while (SystemClock().Monotonic() < first + 20ms) std::this_thread::yield();
    seen_elsewhere = heartbeat.last();
  }).join();
  EXPECT_EQ(seen_elsewhere, first);

  // The loop runs until it has beaten twice.
  std::set<MonotonicTime> beats;
  const std::function<void()> collect_beats = [&] {
    beats.insert(heartbeat.last());
    beats.size() < 3 ? loop->Post(collect_beats) : loop->Stop();
  };
  loop->Post(collect_beats);
  EXPECT_TRUE(Succeeded(RunPatiently(*loop)));
}

}  // namespace
}  // namespace pintle::event
