// SPDX-License-Identifier: Apache-2.0
#include "machineconfig/file_below_file.h"

#include <fmt/core.h>

#include <string_view>
#include <unordered_set>

namespace pintle::machineconfig {

std::string FileBelowFile::Text() const {
  return fmt::format("cannot write {}: {} is a file of the same config", path, above);
}

std::vector<FileBelowFile> FilesBelowFiles(std::span<const ignition::File> files) {
  std::unordered_set<std::string_view> paths;
  for (const ignition::File& file : files) paths.insert(file.path);
  std::vector<FileBelowFile> found;
  for (const ignition::File& file : files) {
    std::string_view above = file.path;
    for (std::size_t slash = above.rfind('/'); slash != above.npos && slash != 0; slash = above.rfind('/')) {
      above = above.substr(0, slash);
      if (paths.contains(above)) found.push_back({file.path, std::string(above)});
    }
  }
  return found;
}

Result<> CheckFilesBelowFiles(const ignition::Config& config) {
  const auto found = FilesBelowFiles(config.storage.files);
  if (found.empty()) return {};
  return Error(ErrorKind::kInvalid, fmt::format("{}; {}", found.front().Text(), kFileBelowFileAdvice));
}

}  // namespace pintle::machineconfig
