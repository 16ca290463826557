// SPDX-License-Identifier: Apache-2.0
#include "plan/extensions.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "machineconfig/validate.h"

namespace pintle::plan {
namespace {

using Names = std::vector<std::string>;
using NameSet = std::set<std::string, std::less<>>;

Names ImageKernel() {
  return {"kernel", "kernel-core", "kernel-modules", "kernel-modules-core", "kernel-modules-extra"};
}

bool IsOfImageKernel(std::string_view package) { return package == "kernel" || package.starts_with("kernel-"); }

bool IsOfOtherKernel(std::string_view package) {
  return package.starts_with("kernel-rt-") || package.starts_with("kernel-64k-");
}

Result<Names> KernelPackages(std::string_view type, std::string_view machine) {
  if (type == machineconfig::kRealtimeKernel) {
    return Names{"kernel-rt-core", "kernel-rt-modules", "kernel-rt-modules-extra"};
  }
  if (type != machineconfig::k64kPagesKernel) return Names();
  if (machine != "aarch64") {
    return Error(ErrorKind::kInvalid, "64k-pages is only supported for aarch64 architecture");
  }
  return Names{"kernel-64k-core", "kernel-64k-modules", "kernel-64k-modules-core", "kernel-64k-modules-extra"};
}

template <typename Predicate>
Names Those(const Names& names, Predicate are) {
  Names some;
  std::copy_if(names.begin(), names.end(), std::back_inserter(some), are);
  return some;
}

Result<> AddKernel(std::string_view type, const LayeredPackages& booted, std::string_view machine,
                   PackageChanges& changes) {
  const Names reset = Those(booted.removed, IsOfImageKernel), uninstall = Those(booted.requested, IsOfOtherKernel);
  // One without the other is not what a change of the kernel leaves, and somebody's own.
  if (!reset.empty() && !uninstall.empty()) {
    changes.override_reset = reset;
    changes.uninstall = uninstall;
  }
  changes.install = TRY(KernelPackages(type, machine));
  if (!changes.install.empty()) changes.override_remove = ImageKernel();
  return {};
}

// The packages of some of the extensions, or of all that there are.
Result<NameSet> PackagesOf(const Names& extensions) {
  NameSet packages;
  std::string unknown;
  const auto all = machineconfig::SupportedExtensions();
  for (const std::string& name : extensions) {
    const auto found = std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.name == name; });
    if (found != all.end()) {
      packages.insert(found->packages.begin(), found->packages.end());
    } else {
      unknown += (unknown.empty() ? "" : " ") + name;
    }
  }
  if (unknown.empty()) return packages;
  return Error(ErrorKind::kInvalid, fmt::format("invalid extensions found: [{}]", unknown));
}

NameSet PackagesOfAll() {
  NameSet packages;
  for (const auto& extension : machineconfig::SupportedExtensions()) {
    packages.insert(extension.packages.begin(), extension.packages.end());
  }
  return packages;
}

Result<> AddExtensions(const Names& extensions, const LayeredPackages& booted, PackageChanges& changes) {
  const NameSet required = TRY(PackagesOf(extensions)), known = PackagesOfAll();
  const NameSet installed(booted.requested.begin(), booted.requested.end());
  for (const std::string& package : required) {
    if (!installed.contains(package)) changes.install.push_back(package);
  }
  for (const std::string& package : installed) {
    if (known.contains(package) && !required.contains(package)) changes.uninstall.push_back(package);
  }
  return {};
}

}  // namespace

Result<PackageChanges> PackagesFor(const resource::Deployment::State& from, const resource::Deployment::State& to,
                                   const LayeredPackages& booted, std::string_view machine) {
  PackageChanges changes;
  const bool is_new_image = from.image != to.image;
  const std::string_view kernel = machineconfig::CanonicalKernelType(to.kernel_type);
  if (is_new_image || machineconfig::CanonicalKernelType(from.kernel_type) != kernel) {
    TRY(AddKernel(kernel, booted, machine, changes));
  }
  const bool has_any = !from.extensions.empty() || !to.extensions.empty();
  if (has_any && (is_new_image || from.extensions != to.extensions)) {
    TRY(AddExtensions(to.extensions, booted, changes));
  }
  return changes;
}

bool IsOfExtension(std::string_view package) {
  static const NameSet kAll = PackagesOfAll();
  return kAll.contains(package) || IsOfOtherKernel(package) || IsOfImageKernel(package);
}

}  // namespace pintle::plan
