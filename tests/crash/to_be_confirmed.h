// SPDX-License-Identifier: Apache-2.0
#pragma once

// Tests of a change that has to be confirmed after its boot; several test programs share them.  From this boot on, the
// change stays in effect unless it is given up.

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <string>

#include "crash/faults.h"
#include "crash/histories.h"

namespace pintle::crash {

// `Machine` boots into such a change.  Each test cuts an operation short at one call after the other, on a new machine
// each time.  `wanted` describes the machine with the change.
template <typename Machine>
class ToBeConfirmed {
 public:
  explicit ToBeConfirmed(std::string wanted) : wanted_(std::move(wanted)) {}

  void IsNewWhereverTheCountOfItsBootIsCut() const {
    for (int at = 1;; ++at) {
      for (const bool has_power_cut : {false, true}) {
        SCOPED_TRACE(fmt::format("cut at call {}, then {}", at, has_power_cut ? "a power cut" : "a recovery"));
        Machine machine;
        ASSERT_TRUE(machine.BootIntoChangeToBeConfirmed());
        const bool was_cut = RunWith(CutAt(at), [&] { return machine.Recover(); }).fault_met;
        if (has_power_cut) machine.PowerCut();
        ASSERT_NO_FATAL_FAILURE(ExpectNew(machine));
        if (!was_cut) return;
      }
    }
  }

  void IsNewWhereverItsConfirmationIsCut() const {
    for (int at = 1;; ++at) {
      SCOPED_TRACE(fmt::format("cut at call {}", at));
      Machine machine;
      ASSERT_TRUE(machine.BootIntoChangeToBeConfirmed());
      ASSERT_TRUE(machine.Recover());
      const bool was_cut = RunWith(CutAt(at), [&] { return machine.Confirm(); }).fault_met;
      machine.PowerCut();
      ASSERT_NO_FATAL_FAILURE(ExpectNew(machine));
      if (!was_cut) return;
    }
  }

 private:
  void ExpectNew(Machine& machine) const {
    CountHistory();
    ASSERT_TRUE(machine.Settle());
    ASSERT_EQ(machine.Now(), wanted_);
  }

  std::string wanted_;
};

}  // namespace pintle::crash
