// SPDX-License-Identifier: Apache-2.0
#pragma once

// All programs of Pintle end with one of these statuses, and scripts may rely on them.
//
// The manual pages of all programs list these statuses in the same words; tests/cli/test_man.py compares them.

namespace pintle {

enum class ExitStatus {
  // All is well, and the request has been carried out.
  kSuccess = 0,
  // Something went wrong, or the command line was not understood; standard error or the journal has the reason.
  kFailure = 1,
  // Nothing went wrong, and the answer is that something differs, is to be done, or is not as it should be.
  kDiffers = 2,
  // There was nothing to change; only machine-config-daemon pivot --unchanged-exit-77 ends with this status.
  kUnchanged = 77,
};

}  // namespace pintle
