// SPDX-License-Identifier: Apache-2.0
#pragma once

// One result of the check before a takeover.

#include <string>

namespace pintle::controller {

enum class Weight {
  kObstacle,     // A takeover cannot begin before this is removed.
  kLoss,         // The cluster loses something by a takeover.
  kInformation,  // Information that does not affect whether a takeover can begin.
};

struct TakeoverFinding {
  Weight weight;
  std::string text;
};

}  // namespace pintle::controller
