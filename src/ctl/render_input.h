// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads the files with MachineConfigs for `pintle render`: manifests of a cluster, and Butane.
//
// If a file or a directory cannot be read, the others are read nevertheless, so that all errors are reported at once.

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
  std::vector<Error> faults;  // An error that the Machine Config Operator reports as well has the Operator's text.
};

// Reads the files; a directory is replaced by its files with the endings .yaml, .yml, .json, .bu, .butane and .fcc.
// Warnings are printed to standard error.
RenderInput ReadRenderInput(std::span<const std::string> inputs);

}  // namespace pintle::ctl
