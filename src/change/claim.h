// SPDX-License-Identifier: Apache-2.0
#pragma once

// Lets only one process at a time change a machine.  Otherwise, another process could mistake a change that is under
// way for one that was cut short.

#include <chrono>

#include "base/result.h"
#include "base/root.h"
#include "base/unique_fd.h"

namespace pintle::change {

// A person's command waits this long for the claim.  A look of the agent takes less time.
inline constexpr auto kClaimPatience = std::chrono::seconds(10);

// The claim is a file lock, so the kernel releases it even if the process is killed.
class Claim {
 public:
  // With kKnownVersions, nobody gets the claim to a machine on which a newer Pintle has left files that this Pintle
  // does not know.
  enum class Allows { kKnownVersions, kAnyVersion };

  // Returns an error of the kind kConflict if another process still holds the claim after `patience`, and one of the
  // kind kTooNew if a file has a newer version.
  static Result<Claim> Take(const Root& root, std::chrono::milliseconds patience = {},
                            Allows allows = Allows::kKnownVersions);

  // Returns whether a process holds the claim.  Changes nothing on the machine.
  static Result<bool> IsHeld(const Root& root);

 private:
  explicit Claim(UniqueFd lock) : lock_(std::move(lock)) {}

  UniqueFd lock_;
};

}  // namespace pintle::change
