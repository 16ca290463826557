// SPDX-License-Identifier: Apache-2.0
#pragma once

// What speaks against a takeover: whatever a node would notice, and features of the Machine Config Operator that Pintle
// does not have.

#include <string>
#include <vector>

#include "base/clock.h"
#include "clusterops/controller_config.h"
#include "controller/render_pass.h"
#include "controller/takeover_steps.h"
#include "controller/view.h"
#include "json/value.h"

namespace pintle::controller {

enum class Weight {
  kObstacle,  // A takeover would do harm now.
  kPrice,     // The cluster loses something by it.
};

struct TakeoverFinding {
  Weight weight;
  std::string text;
};

struct TakeoverEvidence {
  const View& view;  // The cluster as Pintle's controller would see it.
  const TakeoverState& state;
  // What the ControllerConfig is made from, and the one that is there; nullptr if the cluster is not OpenShift.
  const clusterops::ControllerConfigInputs* sources = nullptr;
  const json::Value* controller_config = nullptr;
  std::vector<std::string> unsupported = {};  // What the cluster uses and Pintle does not have.
};

std::vector<TakeoverFinding> CheckTakeover(const TakeoverEvidence& evidence, const TakeoverSettings& settings,
                                           WallTime now);

}  // namespace pintle::controller
