// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds a file that a config has below the path of another file.  Ignition and the Machine Config Operator render
// such a config, but no machine can have both files.

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "ignition/config.h"

namespace pintle::machineconfig {

struct FileBelowFile {
  std::string path;
  std::string above;  // Another file of the config, where a directory is needed.

  // Returns the message that no machine can have both files.
  std::string Text() const;
};

inline constexpr const char* kFileBelowFileAdvice = "remove one of the two files from the config";

// Returns each file that is below others, together with the nearest of these.
std::vector<FileBelowFile> FilesBelowFiles(std::span<const ignition::File> files);

// Returns an error for the first such file.
Result<> CheckFilesBelowFiles(const ignition::Config& config);

}  // namespace pintle::machineconfig
