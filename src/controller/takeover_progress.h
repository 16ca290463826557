// SPDX-License-Identifier: Apache-2.0
#pragma once

// Follows the steps of one run of `pintle-controller takeover`, and decides when the run has to end early.
//
// `start` and `undo` at the same time would undo each other's steps for ever.  The record has the verb of the run that
// was begun last.  The first step, that of the record, is then no longer done for the other run, so the other run ends.

#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "controller/takeover_steps.h"

namespace pintle::controller {

class TakeoverProgress {
 public:
  // `patience` is how long one step may take.  `advice` is what to do when it has taken longer.
  TakeoverProgress(std::chrono::milliseconds patience, std::string_view advice)
      : patience_(patience), advice_(advice) {}

  // Returns an error if the run has to end after a look at the cluster.
  Result<> Saw(const std::vector<TakeoverStep>& steps, MonotonicTime now);
  // Returns an error if the run has to end because a request failed.
  Result<> Failed(const Error& error, MonotonicTime now);

 private:
  bool HasPatience(MonotonicTime now) const;

  const std::chrono::milliseconds patience_;
  const std::string_view advice_;
  bool has_begun_ = false;  // The record was seen with the verb of this run.
  bool creates_ = false;    // The write of the step that is not done creates an object.
  std::string step_;        // The step that is not done; empty before the first look.
  MonotonicTime seen_;      // When this step was seen last.
  // The total time for which each step was the next one: a program that undoes one of two steps again and again must
  // not keep the run going for ever.
  std::map<std::string, MonotonicTime::duration> waited_;
};

}  // namespace pintle::controller
