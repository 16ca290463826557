// SPDX-License-Identifier: Apache-2.0
#pragma once

// A timer that goes before all else that the loop has to do at that moment.
//
// A program that was stopped for a while finds many things due at once.  What must not be done any more from a certain
// time on is ended by this, or some of it would be done before.

#include <functional>

#include "event/watches.h"

namespace pintle::event {

class UrgentTimer : private Watch<> {
 public:
  UrgentTimer(Loop& loop, std::function<void()> callback);

  void At(MonotonicTime when);
  void Cancel();
};

}  // namespace pintle::event
