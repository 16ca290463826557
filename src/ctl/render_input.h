// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads the files with MachineConfigs for `pintle render`: manifests of a cluster, and Butane.
//
// If a file cannot be read, the other files are read nevertheless, so that all errors are reported at once.

#include <span>
#include <string>
#include <vector>

#include "api/machine_config.h"
#include "base/result.h"

namespace pintle::ctl {

struct RenderInput {
  std::vector<api::MachineConfig> configs;
  std::vector<std::string> files;  // The file of each config, in the same order.
  // Objects of other kinds, and entries of directories that are not files with configs, each with the reason.
  std::vector<std::string> left_out;
  std::vector<Error> faults;  // In the words of the Machine Config Operator, if it reports the same error.
};

// Reads the files; a directory stands for all files with configs in it.  Warnings are printed to standard error.
RenderInput ReadRenderInput(std::span<const std::string> inputs);

}  // namespace pintle::ctl
