// SPDX-License-Identifier: Apache-2.0
#pragma once

// How far a change is, on its way from the worker's thread to those who look at the agent, and no faster than they can
// read.

#include <functional>
#include <memory>
#include <string>

#include "agent/progress_pace.h"
#include "base/clock.h"
#include "change/apply.h"
#include "event/loop.h"
#include "event/watches.h"

namespace pintle::agent {

// Belongs to the loop's thread, and calls `show` there.
class ShownProgress {
 public:
  ShownProgress(event::Loop& loop, const Clock& clock, std::function<void(const std::string& doing)> show);
  ShownProgress(const ShownProgress&) = delete;
  ShownProgress& operator=(const ShownProgress&) = delete;

  // To be called on any thread, also when this is no more.
  change::Progress Teller();

  // Drops the report that has not been shown yet.
  void Forget();

 private:
  struct Alive {};

  void Take(const host::HowFar& how_far);
  void ShowIfDue();

  event::Loop& loop_;
  const Clock& clock_;
  std::function<void(const std::string& doing)> show_;
  ProgressPace pace_;
  event::Timer due_;
  std::shared_ptr<Alive> alive_ = std::make_shared<Alive>();
};

}  // namespace pintle::agent
