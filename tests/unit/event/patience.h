// SPDX-License-Identifier: Apache-2.0
#pragma once

// Runs loops in tests with a time limit, so that a broken program fails instead of hanging.

#include <gtest/gtest.h>

#include <chrono>
#include <functional>

#include "event/loop.h"
#include "event/watches.h"
#include "support/expect.h"

namespace pintle::event {

inline constexpr auto kPatience = std::chrono::seconds(60);

// Runs the loop until someone stops it.
inline Result<> RunPatiently(Loop& loop) {
  Timer out_of_patience(loop, [&] { loop.Stop(Error(ErrorKind::kUnavailable, "the test waited in vain")); });
  out_of_patience.After(kPatience);
  return loop.Run();
}

// Lets the loop handle everything that is ready, and nothing more.
inline void Settle(Loop& loop) {
  // It takes two turns: whatever is ready now is handled before the second task, in whichever order sd-event chooses.
  loop.Post([&] { loop.Post([&] { loop.Stop(); }); });
  EXPECT_TRUE(Succeeded(RunPatiently(loop)));
}

}  // namespace pintle::event
