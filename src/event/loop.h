// SPDX-License-Identifier: Apache-2.0
#pragma once

// The thread that owns everything.
//
// All objects live on the loop's thread and are called by it: watches.h has what can wake it.  Other threads reach it
// by Post() alone.  A loop with nothing to do sleeps; nothing in it ticks.

#include <functional>
#include <memory>
#include <optional>

#include "base/c_ptr.h"
#include "base/result.h"

struct sd_event;

namespace pintle::event {

class Loop {
 public:
  // Who does the jobs of its workers.
  enum class Jobs {
    kInThreads,  // A thread for each worker.
    kInTurns,    // The loop itself, one job a turn, for tests in which the same happens in the same order each time.
  };

  static Result<std::unique_ptr<Loop>> Create(Jobs jobs = Jobs::kInThreads);
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  // Serves what happens until someone calls Stop(), and returns what that was given; or why the loop itself failed.
  // It may be run again afterwards.
  Result<> Run();

  // Ends Run() once the callback that calls this has returned.  The first of several outcomes counts.
  void Stop(Result<> outcome = {});

  // Has the loop run `task`: after those posted before it, and never from within this call.  Any thread may call this,
  // also before Run(); a task that the loop did not come to is dropped with the loop.
  void Post(std::function<void()> task);

  // Tells systemd that we are alive as often as it asked to be told (WatchdogSec=), for as long as the loop turns.
  // Without a watchdog this does nothing.
  Result<> FeedWatchdog();

  Jobs jobs() const { return jobs_; }

  // For sd-bus, which joins the loop on its own.
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
