// SPDX-License-Identifier: Apache-2.0
#include "host/installed_packages.h"

#include <algorithm>
#include <chrono>
#include <string_view>

#include "host/program.h"

namespace pintle::host {
namespace {

// A query that takes longer than this waits for a lock of the database.
constexpr auto kQueryPatience = std::chrono::minutes(2);

}  // namespace

Result<std::vector<std::string>> InstalledPackages() {
  const auto output =
      RunProgram({{"rpm", "-qa", "--queryformat", "%{NAME}\\n"}, PlainEnvironment(), kQueryPatience}, {});
  std::vector<std::string> names;
  if (!output && output.error().kind() == ErrorKind::kNotFound) return names;
  if (!output) return Error(output.error()).While("asking for the packages of this machine");
  std::string_view lines = *output;
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    if (end > 0) names.emplace_back(lines.substr(0, end));
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  return names;
}

}  // namespace pintle::host
