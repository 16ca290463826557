// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes MachineConfigs from a folder of templates and a ControllerConfig: 00-worker, 01-worker-kubelet and so on.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "generated/machine_config.h"
#include "generated/render_config.h"
#include "generated/template_folder.h"

namespace pintle::generated {

// Removes the white space between the tokens of a pull secret.  An error does not contain the secret.
Result<std::string> CompactPullSecret(std::string_view pull_secret);

// Makes the configs of all roles that have a folder, sorted by name and without owners.  The role arbiter is left out
// unless the control plane has an arbiter.  The configs are annotated with `controller_version`.
Result<std::vector<MachineConfig>> MachineConfigsOfTemplates(const TemplateFolder& templates,
                                                             const RenderConfig& config,
                                                             std::string_view controller_version);

// Makes the configs of one role in the order of their folders, without the annotation.  A role other than master,
// worker and arbiter uses the templates of worker.
Result<std::vector<MachineConfig>> MachineConfigsOfRole(const TemplateFolder& templates, const RenderConfig& config,
                                                        std::string_view role);

// Executes one template.  An error does not contain the pull secret.
Result<std::string> TextOfTemplate(const gotemplate::Template& parsed, const RenderConfig& config);

// Makes the reference from a config to the ControllerConfig that owns it.
api::OwnerReference OwnerOfTemplates(const json::Value& controller_config);

}  // namespace pintle::generated
