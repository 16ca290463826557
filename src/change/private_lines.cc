// SPDX-License-Identifier: Apache-2.0
#include "change/private_lines.h"

#include <fmt/core.h>

namespace pintle::change {

bool IsPrivate(const ignition::File& file) {
  constexpr std::int64_t kDefaultMode = 0644;
  return IsPrivate(file.mode.value_or(kDefaultMode));
}

std::set<std::string_view> PrivatePaths(const ignition::Config& config) {
  std::set<std::string_view> paths;
  for (const ignition::File& file : config.storage.files) {
    if (IsPrivate(file)) paths.insert(file.path);
  }
  return paths;
}

std::string PrivateText(std::string_view from, std::string_view to) {
  if (from == to) return "";
  return fmt::format("private contents differ: {} bytes before, {} after (use --show-private to print them)\n",
                     from.size(), to.size());
}

}  // namespace pintle::change
