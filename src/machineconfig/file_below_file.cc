// SPDX-License-Identifier: Apache-2.0
#include "machineconfig/file_below_file.h"

#include <fmt/core.h>

#include <string_view>

#include "ignition/path_tree.h"

namespace pintle::machineconfig {

std::string FileBelowFile::Text() const {
  return fmt::format("cannot write {}: {} is a file of the same config", path, above);
}

std::vector<FileBelowFile> FilesBelowFiles(std::span<const ignition::File> files) {
  ignition::PathTree paths;
  for (const ignition::File& file : files) paths.Add(file.path);
  std::vector<FileBelowFile> found;
  for (const ignition::File& file : files) {
    const std::string_view above = paths.NearestAbove(file.path);
    if (!above.empty()) found.push_back({file.path, std::string(above)});
  }
  return found;
}

Result<> CheckFilesBelowFiles(const ignition::Config& config) {
  const auto found = FilesBelowFiles(config.storage.files);
  if (found.empty()) return {};
  return Error(ErrorKind::kInvalid, fmt::format("{}; {}", found.front().Text(), kFileBelowFileAdvice));
}

}  // namespace pintle::machineconfig
