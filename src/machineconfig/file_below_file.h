// SPDX-License-Identifier: Apache-2.0
#pragma once

// A config may name a file and another one below it.  Ignition and the Machine Config Operator render it; no machine
// can have both.

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "ignition/config.h"

namespace pintle::machineconfig {

struct FileBelowFile {
  std::string path;
  std::string above;  // Another file of the config, in the place of a directory.

  // Says that no machine can have both.
  std::string Text() const;
};

inline constexpr const char* kFileBelowFileAdvice = "take one of the two out";

std::vector<FileBelowFile> FilesBelowFiles(std::span<const ignition::File> files);

// An error for the first of them.
Result<> CheckFilesBelowFiles(const ignition::Config& config);

}  // namespace pintle::machineconfig
