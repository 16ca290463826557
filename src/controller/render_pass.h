// SPDX-License-Identifier: Apache-2.0
#pragma once

// What is to be rendered for a pool, and what comes of it.

#include <optional>
#include <string>

#include "api/machine_config.h"
#include "api/machine_config_pool.h"
#include "controller/verdict.h"
#include "controller/view.h"
#include "machineconfig/render.h"

namespace pintle::controller {

// Of whom the configs and the ControllerConfig have to be.  Empty: of whoever has made those that are there, as long as
// that is one.
struct Versions {
  std::string controller;
  std::string operator_version;
};

// All that goes into a pool's rendered config.  It is looked at and not kept.
struct RenderInputs {
  const api::MachineConfigPool& pool;
  const View& view;
  Versions versions;
  machineconfig::MachineConfigs configs;
  std::optional<Verdict> refusal;  // Why nothing can be rendered.
  // Something is on its way, and what is missing may come of itself.
  bool is_passing = false;
  // The same as long as all of this is, whatever the pool's target.
  std::string key;
};

RenderInputs GatherFor(const api::MachineConfigPool& pool, const View& view, const Versions& versions);

struct RenderOutcome {
  Verdict verdict;
  std::optional<machineconfig::Rendered> rendered;  // Nothing when the verdict says why.
};

// `current` is what the pool's nodes have now, in full; nullptr: nothing yet.
RenderOutcome RenderPass(const RenderInputs& inputs, const api::MachineConfig* current);

// Whether two configs are the same to a node.
bool HasSameSpec(const api::MachineConfig& a, const api::MachineConfig& b);

}  // namespace pintle::controller
