// SPDX-License-Identifier: Apache-2.0
#pragma once

// Follows the steps of one run of `pintle-controller takeover`, and decides when the run has to end early.
//
// If `start` and `undo` ran at the same time, they would undo each other's steps for ever.  So the first step of each
// run writes the verb of the run into the record.  When a later run has written another verb, the first step of the
// earlier run is no longer done, and the earlier run ends.

#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "controller/takeover_state.h"

namespace pintle::controller {

class TakeoverProgress {
 public:
  // `patience` is how long one step may take.  `advice` ends the error about a step that takes longer.
  TakeoverProgress(std::chrono::milliseconds patience, std::string_view advice)
      : patience_(patience), advice_(advice) {}

  // Must be called after each look at the cluster, with all steps.  Returns an error if the run has to end.
  Result<> Saw(const std::vector<TakeoverStep>& steps, MonotonicTime now);
  // Must be called when a request has failed.  Returns an error if the run has to end because of this.
  Result<> Failed(const Error& error, MonotonicTime now);

 private:
  // Returns whether the present step may take longer.
  bool HasPatience(MonotonicTime now) const;

  const std::chrono::milliseconds patience_;
  const std::string_view advice_;
  bool has_begun_ = false;  // The record was seen with the verb of this run.
  bool creates_ = false;    // The write of the next step creates an object.
  std::string step_;        // The next step, which is not done yet; empty before the first look.
  MonotonicTime seen_;      // When this step was seen last.
  // The total time for which each step was the next one: a program that undoes one of two steps again and again must
  // not keep the run going for ever.
  std::map<std::string, MonotonicTime::duration> waited_;
};

}  // namespace pintle::controller
