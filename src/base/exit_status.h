// SPDX-License-Identifier: Apache-2.0
#pragma once

// All programs of Pintle end with one of these statuses, and scripts may rely on them.
//
// The manual pages of all programs have this table in the same words; tests/cli/test_man.py compares them.

namespace pintle {

enum class ExitStatus {
  // All is well, and what was asked for is done.
  kFine = 0,
  // Something went wrong, or the words were not understood; standard error or the journal says what.
  kWrong = 1,
  // Nothing went wrong, and the answer is that something differs, is to be done, or is not as it should be.
  kDiffers = 2,
  // Of machine-config-daemon pivot --unchanged-exit-77 alone: nothing was to be changed.
  kUnchanged = 77,
};

}  // namespace pintle
