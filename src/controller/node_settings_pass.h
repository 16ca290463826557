// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides what is written for the settings of all nodes and for the features of the release: the configs of each pool
// whose names begin with 97- and 98-.

#include <optional>
#include <string>

#include "controller/generate_changes.h"
#include "controller/generate_inputs.h"
#include "generated/kubelet_base.h"
#include "generated/pool_templates.h"

namespace pintle::controller {

// Returns the settings from which the configs of all kubelets are made.  Fails if the FeatureGate does not list the
// release.
Result<generated::KubeletSettings> KubeletSettingsOf(const GenerateInputs& inputs);

// A cluster must not switch directly between the fastest and the slowest latency profile.  If such a switch is
// requested, this function puts the workers' present profile into `settings`, and returns the reason.  Otherwise
// returns nullopt.
std::optional<std::string> HoldLatencyProfile(const GenerateInputs& inputs, generated::KubeletSettings& settings);

void NodeSettingsPass(const GenerateInputs& inputs, generated::PoolTemplates& templates,
                      const generated::KubeletSettings& settings, GenerateChanges& changes);

}  // namespace pintle::controller
