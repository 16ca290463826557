// SPDX-License-Identifier: Apache-2.0
#pragma once

// The files with MachineConfigs that `pintle render` is given: manifests of a cluster, and Butane.
//
// One that cannot be read does not keep the others from being looked at, so that all that is wrong is told at once.

#include <span>
#include <string>
#include <vector>

#include "api/machine_config.h"
#include "base/result.h"

namespace pintle::ctl {

struct RenderInput {
  std::vector<api::MachineConfig> configs;
  std::vector<std::string> files;     // That hold them, in the same order.
  std::vector<std::string> left_out;  // Objects of other kinds, and what is no file with configs, each with what it is.
  std::vector<Error> faults;          // In the words of the Machine Config Operator, where it has any.
};

// Files, and directories for all such files in them.  Warnings go to standard error.
RenderInput ReadRenderInput(std::span<const std::string> inputs);

}  // namespace pintle::ctl
