// SPDX-License-Identifier: Apache-2.0
#pragma once

// One at a time: who changes a machine holds this, so that nobody takes its change for one that was cut short.

#include "base/result.h"
#include "base/root.h"
#include "base/unique_fd.h"

namespace pintle::change {

// The kernel ends it with the process, however that ends.
class Claim {
 public:
  // kConflict while someone else has it.
  static Result<Claim> Take(const Root& root);

 private:
  explicit Claim(UniqueFd hold) : hold_(std::move(hold)) {}

  UniqueFd hold_;
};

}  // namespace pintle::change
