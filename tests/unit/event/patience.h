// SPDX-License-Identifier: Apache-2.0
#pragma once

// Running a loop in a test: a broken program fails instead of hanging.

#include <gtest/gtest.h>

#include <chrono>
#include <functional>

#include "event/loop.h"
#include "event/watches.h"
#include "unit/expect.h"

namespace pintle::event {

inline constexpr auto kPatience = std::chrono::seconds(60);

// Runs the loop until someone stops it.
inline Result<> RunPatiently(Loop& loop) {
  Timer out_of_patience(loop, [&] { loop.Stop(Error(ErrorKind::kUnavailable, "the test waited in vain")); });
  out_of_patience.After(kPatience);
  return loop.Run();
}

// Lets the loop do all that is ready to be done, and nothing more.
inline void Settle(Loop& loop) {
  // Two turns: what is ready when this is called is served before the second task, whichever order sd-event chooses.
  loop.Post([&] { loop.Post([&] { loop.Stop(); }); });
  EXPECT_TRUE(Succeeded(RunPatiently(loop)));
}

}  // namespace pintle::event
