// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides whether and from which inputs a config is rendered for a pool, and renders it.

#include <optional>
#include <string>

#include "api/machine_config.h"
#include "api/machine_config_pool.h"
#include "controller/verdict.h"
#include "controller/view.h"
#include "machineconfig/render.h"

namespace pintle::controller {

// The versions that the configs and the ControllerConfig must have.
struct Versions {
  std::string controller;        // Empty to keep the version of the existing configs.
  std::string operator_version;  // Empty to accept a ControllerConfig of any version.
};

// Returns the version of the controller that generated the configs.  This is the version that the first annotated
// config has, or "" if no config is annotated.
std::string GeneratorVersion(const std::vector<const api::MachineConfig*>& configs);

// Returns the version of the OSImageStream whose OS images the ControllerConfig has, as an annotation records it.  The
// text is empty if there is no such record, or if the record is about another release than the ControllerConfig's.
std::string RecordedStreamVersion(const api::ObjectMeta& controller_config);

// Returns the version that new configs are annotated with: versions.controller if it is not empty, or else
// GeneratorVersion(), so that a takeover changes no config, or else the version of Pintle.
std::string SigningVersion(const std::vector<const api::MachineConfig*>& configs, const Versions& versions);

// The inputs of RenderPass() for one pool; borrowed.
struct RenderInputs {
  const api::MachineConfigPool& pool;
  const View& view;
  Versions versions;
  machineconfig::MachineConfigs configs;
  std::optional<Verdict> refusal;  // Set if nothing can be rendered.
  // Set if the refusal may end by itself, since something is being written or generated.
  bool is_temporary = false;
  // Identifies all inputs except the pool's current target.
  std::string key;
};

// The program that makes configs from the cluster's templates.
enum class TemplatesMaker {
  kUnknown,        // Another program may make them.  If the ControllerConfig's status has no conditions, nobody does.
  kThisController  // This controller makes them, and sets the conditions when it has made them.
};

// Collects the inputs for a pool, or the reason why nothing can be rendered for it.
RenderInputs GatherRenderInputs(const api::MachineConfigPool& pool, const View& view, const Versions& versions,
                                TemplatesMaker maker = TemplatesMaker::kUnknown);

// Returns why the configs from the cluster's templates do not match the ControllerConfig yet, or an empty string if
// they match or if nobody makes such configs.
std::string WhyTemplatesAreBehind(const api::ControllerConfig& config, TemplatesMaker maker = TemplatesMaker::kUnknown);

struct RenderOutcome {
  Verdict verdict;
  std::optional<machineconfig::Rendered> rendered;  // Unset if the verdict is a failure.
};

// Renders the config of a pool.  `current` is the present target of the pool, in full, or nullptr if there is none.
RenderOutcome RenderPass(const RenderInputs& inputs, const api::MachineConfig* current);

// Returns whether two configs are the same for a node: only their metadata may differ.
bool HasSameSpec(const api::MachineConfig& a, const api::MachineConfig& b);

}  // namespace pintle::controller
