// SPDX-License-Identifier: Apache-2.0
#include "change/abilities.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <string>
#include <string_view>
#include <vector>

#include "change/image_mode.h"
#include "machineconfig/validate.h"

namespace pintle::change {

OsAbilities::OsAbilities(const host::Host& host)
    : has_deployments(host.deployments != nullptr),
      layers_packages(has_deployments && host.deployments->LayersPackages()),
      is_package_based(host.is_package_based) {}

bool ChangesOs(const plan::Difference& difference) {
  return difference.os_image || difference.kernel_arguments || difference.kernel_type || difference.extensions;
}

std::string UnsupportedPartsText(const OsAbilities& abilities, const api::MachineConfigSpec& spec) {
  if (!abilities.is_package_based) return "";
  std::vector<std::string_view> parts;
  if (!spec.os_image_url.empty()) parts.emplace_back("OS image");
  if (spec.kernel_arguments && !spec.kernel_arguments->empty()) parts.emplace_back("kernel arguments");
  if (machineconfig::CanonicalKernelType(spec.kernel_type) != machineconfig::kDefaultKernel) {
    parts.emplace_back("kernel type");
  }
  if (spec.extensions && !spec.extensions->empty()) parts.emplace_back("extensions");
  if (parts.empty()) return "";
  return fmt::format("this machine has no OSTree, so these parts of the config are not applied: {}",
                     fmt::join(parts, ", "));
}

void CopyUnsupportedParts(const OsAbilities& abilities, const PartsToCopy& configs) {
  if (!abilities.is_package_based) return;
  const api::MachineConfig& wanted = configs.from;
  api::MachineConfig& have = configs.to;
  // If an image was built for the config, it has replaced the config's own image in `have`.  Extract() reverts that.
  Extract(have);
  have.spec.os_image_url = wanted.spec.os_image_url;
  have.spec.base_os_extensions_container_image = wanted.spec.base_os_extensions_container_image;
  have.spec.kernel_arguments = wanted.spec.kernel_arguments;
  have.spec.kernel_type = wanted.spec.kernel_type;
  have.spec.extensions = wanted.spec.extensions;
  Embed(EmbeddedImage(wanted), have);
}

Result<> CheckAbleTo(const OsAbilities& abilities, const plan::Difference& difference) {
  struct Part {
    bool differs;
    std::string_view name;
    std::string_view field;
  };
  const Part parts[] = {
      {difference.os_image && !abilities.has_deployments, "OS image", "osImageURL"},
      {difference.kernel_arguments && !abilities.has_deployments, "kernel arguments", "kernelArguments"},
      {difference.kernel_type && !abilities.layers_packages, "kernel", "kernelType"},
      {difference.extensions && !abilities.layers_packages, "extensions", "extensions"},
  };
  std::vector<std::string> names;
  std::vector<std::string> fields;
  for (const Part& part : parts) {
    if (!part.differs) continue;
    names.push_back(fmt::format("{} (spec.{})", part.name, part.field));
    fields.push_back(fmt::format("spec.{}", part.field));
  }
  std::vector<std::string> problems;
  if (!names.empty()) {
    problems.push_back(fmt::format("this machine {}, so it cannot change {}; remove {}",
                                   abilities.has_deployments ? "has no rpm-ostree" : "is not a running OSTree host",
                                   fmt::join(names, ", "), fmt::join(fields, ", ")));
  }
  if (difference.fips) {
    problems.emplace_back(
        "FIPS mode (spec.fips) is set when a machine is installed; change spec.fips back, or install the machine anew");
  }
  if (problems.empty()) return {};
  return Error(ErrorKind::kInvalid, fmt::format("{}", fmt::join(problems, ". ")));
}

}  // namespace pintle::change
