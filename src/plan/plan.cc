// SPDX-License-Identifier: Apache-2.0
#include "plan/plan.h"

namespace pintle::plan {

Plan Make(const ParsedConfig& from, const ParsedConfig& to, const NodeDisruptionPolicy& policy,
          const api::IrreconcilableValidationOverrides& overrides) {
  Plan plan;
  plan.verdict = machineconfig::Judge(from, to, overrides);
  plan.difference = Compare(from, to);
  plan.actions = ActionsFor(plan.difference, WithDefaults(policy));
  plan.drain = DrainFor(plan.actions, from, to);
  plan.first_boot_action = FirstBootActionFor(plan.difference);
  plan.first_boot_drain = FirstBootDrainFor(plan.first_boot_action, plan.difference, from, to);
  return plan;
}

}  // namespace pintle::plan
