// SPDX-License-Identifier: Apache-2.0
#pragma once

// The event loop.
//
// All objects live on the loop's thread and are called by it; watches.h has the events that can wake it.  Other threads
// reach the loop only through Post().  A loop with nothing to do sleeps; it has no periodic tick.

#include <functional>
#include <memory>
#include <optional>

#include "base/c_ptr.h"
#include "base/result.h"

struct sd_event;

namespace pintle::event {

class Loop {
 public:
  // Decides how the jobs of the loop's workers are run.
  enum class Jobs {
    kInThreads,  // Each worker has a thread.
    kInTurns,    // The loop runs one job a turn, so that tests see the same order each time.
  };

  static Result<std::unique_ptr<Loop>> Create(Jobs jobs = Jobs::kInThreads);
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  // Dispatches events until Stop() is called and returns the outcome that Stop() got, or an error of the loop itself.
  // The loop may be run again afterwards.
  Result<> Run();

  // Ends Run() once the callback that calls this has returned.  Only the first of several outcomes counts.
  void Stop(Result<> outcome = {});

  // Makes the loop run `task` after the tasks that were posted before, and never from within this call.  Any thread may
  // call this, even before Run().  Tasks that have not run when the loop is destroyed are dropped.
  void Post(std::function<void()> task);

  // Sends keep-alive messages to systemd as often as WatchdogSec= requires, for as long as the loop turns.  Does
  // nothing if the service has no watchdog.
  Result<> FeedWatchdog();

  Jobs jobs() const { return jobs_; }

  // Returns the handle to which sd-bus attaches itself.
  ::sd_event* handle() { return event_.get(); }

 private:
  class Mailbox;

  static void Free(::sd_event* event);

  explicit Loop(Jobs jobs);

  const Jobs jobs_;
  CPtr<::sd_event, &Loop::Free> event_;
  std::unique_ptr<Mailbox> mailbox_;
  std::optional<Result<>> outcome_;
};

}  // namespace pintle::event
