// SPDX-License-Identifier: Apache-2.0
#pragma once

// The MachineConfigs that a folder of templates makes of a ControllerConfig: 00-worker, 01-worker-kubelet and the like.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "generated/machine_config.h"
#include "generated/render_config.h"
#include "generated/template_folder.h"

namespace pintle::generated {

// The contents of a pull secret without white space between its tokens.  They are not part of an error.
Result<std::string> CompactPullSecret(std::string_view pull_secret);

// The configs of all roles that have a folder, by their names, without owners.  `controller_version` is the build that
// they are annotated with.
Result<std::vector<MachineConfig>> MachineConfigsOfTemplates(const TemplateFolder& templates,
                                                             const RenderConfig& config,
                                                             std::string_view controller_version);

// The configs of one role, in the order of their folders, without that annotation.  A role that is not one of the
// cluster's own has those of the workers.
Result<std::vector<MachineConfig>> MachineConfigsOfRole(const TemplateFolder& templates, const RenderConfig& config,
                                                        std::string_view role);

// What one template prints.
Result<std::string> TextOfTemplate(const gotemplate::Template& of, const RenderConfig& config);

// The reference by which a ControllerConfig owns what is made of it.
api::OwnerReference OwnerOfTemplates(const json::Value& controller_config);

}  // namespace pintle::generated
