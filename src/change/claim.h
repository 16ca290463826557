// SPDX-License-Identifier: Apache-2.0
#pragma once

// One at a time: who changes a machine holds this, so that nobody takes its change for one that was cut short.

#include <chrono>

#include "base/result.h"
#include "base/root.h"
#include "base/unique_fd.h"

namespace pintle::change {

// How long a person's command waits for the agent, whose looks are short.
inline constexpr auto kClaimPatience = std::chrono::seconds(10);

// The kernel ends it with the process, however that ends.
class Claim {
 public:
  // kConflict if someone else has it, and goes on having it for this long.
  static Result<Claim> Take(const Root& root, std::chrono::milliseconds patience = {});

 private:
  explicit Claim(UniqueFd hold) : hold_(std::move(hold)) {}

  UniqueFd hold_;
};

}  // namespace pintle::change
