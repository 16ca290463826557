// SPDX-License-Identifier: Apache-2.0
#pragma once

// Lets one process at a time change a machine, so that no other takes its change for one that was cut short.

#include <chrono>

#include "base/result.h"
#include "base/root.h"
#include "base/unique_fd.h"

namespace pintle::change {

// A person's command waits this long for the agent, whose looks are short.
inline constexpr auto kClaimPatience = std::chrono::seconds(10);

// The kernel releases the claim when the process ends, in whatever way.
class Claim {
 public:
  // Returns kConflict if someone else still holds the claim after this time.
  static Result<Claim> Take(const Root& root, std::chrono::milliseconds patience = {});

 private:
  explicit Claim(UniqueFd hold) : hold_(std::move(hold)) {}

  UniqueFd hold_;
};

}  // namespace pintle::change
