// SPDX-License-Identifier: Apache-2.0
#pragma once

// Passes the progress of a change from the worker's thread to the loop's, no faster than people can read.

#include <functional>
#include <memory>
#include <string>

#include "agent/progress_pace.h"
#include "base/clock.h"
#include "change/apply.h"
#include "event/loop.h"
#include "event/watches.h"

namespace pintle::agent {

// Lives on the loop's thread, and calls `publish` there.
class ProgressRelay {
 public:
  ProgressRelay(event::Loop& loop, const Clock& clock, std::function<void(const std::string& doing)> publish);
  ProgressRelay(const ProgressRelay&) = delete;
  ProgressRelay& operator=(const ProgressRelay&) = delete;

  // Returns a function that may be called on any thread, even after this object is destroyed.
  change::Progress Sender();

  // Drops a report that still waits.
  void Forget();

 private:
  struct Alive {};

  void Take(const host::ActivityProgress& progress);
  void PublishIfDue();

  event::Loop& loop_;
  const Clock& clock_;
  std::function<void(const std::string& doing)> publish_;
  ProgressPace pace_;
  event::Timer due_;
  std::shared_ptr<Alive> alive_ = std::make_shared<Alive>();
};

}  // namespace pintle::agent
