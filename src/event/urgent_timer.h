// SPDX-License-Identifier: Apache-2.0
#pragma once

// A timer whose callback runs before everything else that is due in the loop.
//
// A program that was stopped for a while (SIGSTOP, a suspended VM) finds many events due at once.  If some callbacks
// must not run after a certain time, this timer's callback can prevent them.  An ordinary timer might fire after some
// of them.

#include <functional>

#include "event/watches.h"

namespace pintle::event {

class UrgentTimer : private Watch<> {
 public:
  UrgentTimer(Loop& loop, std::function<void()> callback);

  // Sets the time at which the timer fires; a time that was set before is forgotten.
  void At(MonotonicTime when);
  void Cancel();
};

}  // namespace pintle::event
