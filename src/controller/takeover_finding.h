// SPDX-License-Identifier: Apache-2.0
#pragma once

// One result of the check before a takeover.

#include <string>

namespace pintle::controller {

enum class Weight {
  kObstacle,  // A takeover would do harm now.
  kPrice,     // The cluster loses something by a takeover.
  kNotice,    // Information that speaks neither for a takeover nor against it.
};

struct TakeoverFinding {
  Weight weight;
  std::string text;
};

}  // namespace pintle::controller
