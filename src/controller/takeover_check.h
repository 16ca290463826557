// SPDX-License-Identifier: Apache-2.0
#pragma once

// What speaks against a takeover: whatever a node would notice, and features of the Machine Config Operator that Pintle
// does not have.

#include <string>
#include <vector>

#include "base/clock.h"
#include "controller/render_pass.h"
#include "controller/takeover_steps.h"
#include "controller/view.h"

namespace pintle::controller {

enum class Weight {
  kObstacle,  // A takeover would do harm now.
  kPrice,     // The cluster loses something by it.
};

struct TakeoverFinding {
  Weight weight;
  std::string text;
};

// `view` is the cluster as Pintle's controller would see it; `unsupported` is what the cluster uses and Pintle does not
// have.
std::vector<TakeoverFinding> CheckTakeover(const View& view, const TakeoverState& state,
                                           const std::vector<std::string>& unsupported,
                                           const TakeoverSettings& settings, WallTime now);

}  // namespace pintle::controller
