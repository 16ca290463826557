// SPDX-License-Identifier: Apache-2.0
#include "change/abilities.h"

#include <fmt/core.h>

#include <string>
#include <string_view>

namespace pintle::change {

bool ChangesOs(const plan::Difference& difference) {
  return difference.os_image || difference.kernel_arguments || difference.kernel_type || difference.extensions;
}

Result<> CheckAbleTo(const host::Host& host, const plan::Difference& difference) {
  const bool has_deployments = host.deployments != nullptr;
  const bool layers_packages = has_deployments && host.deployments->LayersPackages();
  struct Part {
    bool differs;
    std::string_view name;
    std::string_view field;
  };
  const Part parts[] = {
      {difference.os_image && !has_deployments, "OS image", "osImageURL"},
      {difference.kernel_arguments && !has_deployments, "kernel arguments", "kernelArguments"},
      {difference.kernel_type && !layers_packages, "kernel", "kernelType"},
      {difference.extensions && !layers_packages, "extensions", "extensions"},
      {difference.fips, "FIPS mode", "fips"},
  };
  std::string names;
  for (const Part& part : parts) {
    if (part.differs) names += fmt::format("{}{} (spec.{})", names.empty() ? "" : ", ", part.name, part.field);
  }
  if (names.empty()) return {};
  return Error(ErrorKind::kInvalid,
               fmt::format("this machine cannot change these: {}; {}take them out of the config", names,
                           has_deployments ? "it has no rpm-ostree; " : "that takes an OSTree host that is running; "));
}

}  // namespace pintle::change
