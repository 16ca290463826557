// SPDX-License-Identifier: Apache-2.0
#include "plan/extensions.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "machineconfig/validate.h"

namespace pintle::plan {
namespace {

using Names = std::vector<std::string>;
using NameSet = std::set<std::string, std::less<>>;

Names ImageKernelPackages() {
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
Names Select(const Names& names, Predicate is_selected) {
  Names selected;
  std::copy_if(names.begin(), names.end(), std::back_inserter(selected), is_selected);
  return selected;
}

Result<> AddKernel(std::string_view type, const LayeredPackages& booted, std::string_view machine,
                   PackageChanges& changes) {
  const Names reset = Select(booted.removed, IsOfImageKernel), uninstall = Select(booted.requested, IsOfOtherKernel);
  // Replacing the kernel removes the image's kernel and requests another one.  If only one of the two was done, a
  // person did it, and it stays.
  if (!reset.empty() && !uninstall.empty()) {
    changes.override_reset = reset;
    changes.uninstall = uninstall;
  }
  changes.install = TRY(KernelPackages(type, machine));
  if (!changes.install.empty()) changes.override_remove = ImageKernelPackages();
  return {};
}

// Returns the packages of these extensions.  An unknown extension is an error.
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

// Returns the sets of packages that provide an extension.  Each set is an alternative, because older versions of the OS
// have other packages for an extension.
std::vector<Names> PackageSetsOf(std::string_view extension) {
  std::vector<Names> sets;
  for (const auto& known : machineconfig::SupportedExtensions()) {
    if (known.name == extension) sets.emplace_back(known.packages.begin(), known.packages.end());
  }
  if (extension == "ipsec") sets.push_back({"NetworkManager-libreswan", "libreswan"});
  return sets;
}

// Returns the type of the kernel that has replaced the image's kernel.  If a kernel is layered but the image's own was
// not removed, or the other way round, a person did this, and the default kernel is returned.
std::string_view LayeredKernel(const LayeredPackages& booted) {
  if (!std::any_of(booted.removed.begin(), booted.removed.end(), IsOfImageKernel)) return machineconfig::kDefaultKernel;
  for (const std::string& package : booted.requested) {
    if (package.starts_with("kernel-rt-")) return machineconfig::kRealtimeKernel;
    if (package.starts_with("kernel-64k-")) return machineconfig::k64kPagesKernel;
  }
  return machineconfig::kDefaultKernel;
}

// Returns the packages of a kernel, or none if this machine cannot have that kernel.
Names KernelPackagesIfAny(std::string_view type, std::string_view machine) {
  auto packages = KernelPackages(type, machine);
  return packages ? *std::move(packages) : Names();
}

class MissingPartsFinder {
 public:
  MissingPartsFinder(const LayeredPackages& booted, const Names& lacking, std::string_view machine)
      : booted_(booted), lacking_(lacking.begin(), lacking.end()), machine_(machine) {}

  void CheckExtension(const std::string& extension) {
    const std::vector<Names> sets = PackageSetsOf(extension);
    std::string per_set;
    for (const Names& set : sets) {
      const Names missing = LackingOf(set);
      if (missing.empty()) return;
      per_set += fmt::format("{}[{}]", per_set.empty() ? "" : " ", fmt::join(missing, " "));
    }
    // An unknown extension has no packages to look for.  PackagesFor() returns an error for it.
    if (sets.empty()) return;
    parts_.extensions.push_back(extension);
    parts_.problems.push_back(
        fmt::format("extension package verification failed: extension \"{}\" verification failed: no valid package set "
                    "is fully installed. Tried {} package set(s), missing packages per set: [{}]",
                    extension, sets.size(), per_set));
  }

  void CheckKernel(const resource::Deployment::State& want) {
    const std::string_view have = LayeredKernel(booted_);
    if (want.kernel_type.empty()) return;
    const std::string_view wanted = machineconfig::CanonicalKernelType(want.kernel_type);
    const Names missing = LackingOf(KernelPackagesIfAny(wanted, machine_));
    const bool is_left_over = wanted == machineconfig::kDefaultKernel && have != wanted && !want.image.empty();
    if (missing.empty() && !is_left_over) return;
    parts_.kernel_type = have;
    std::string problem = fmt::format("kernel type \"{}\" expected, but the booted one is \"{}\"", wanted, have);
    if (!missing.empty()) problem += fmt::format("; missing packages: [{}]", fmt::join(missing, " "));
    parts_.problems.push_back(std::move(problem));
  }

  MissingParts Take() && { return std::move(parts_); }

 private:
  Names LackingOf(const Names& packages) const {
    return Select(packages, [&](const std::string& package) { return lacking_.contains(package); });
  }

  const LayeredPackages& booted_;
  const NameSet lacking_;
  const std::string_view machine_;
  MissingParts parts_;
};

}  // namespace

std::vector<std::string> PackagesToCheck(const resource::Deployment::State& want, std::string_view machine) {
  NameSet packages;
  for (const std::string& extension : want.extensions) {
    for (const Names& set : PackageSetsOf(extension)) packages.insert(set.begin(), set.end());
  }
  const Names kernel = KernelPackagesIfAny(machineconfig::CanonicalKernelType(want.kernel_type), machine);
  packages.insert(kernel.begin(), kernel.end());
  return {packages.begin(), packages.end()};
}

MissingParts FindMissing(const resource::Deployment::State& want, const LayeredPackages& booted,
                         const std::vector<std::string>& lacking, std::string_view machine) {
  MissingPartsFinder finder(booted, lacking, machine);
  for (const std::string& extension : want.extensions) finder.CheckExtension(extension);
  finder.CheckKernel(want);
  return std::move(finder).Take();
}

Result<PackageChanges> PackagesFor(const resource::Deployment::State& from, const resource::Deployment::State& to,
                                   const LayeredPackages& booted, std::string_view machine) {
  PackageChanges changes;
  const bool is_new_image = from.image != to.image;
  const std::string_view kernel = machineconfig::CanonicalKernelType(to.kernel_type);
  if (is_new_image || machineconfig::CanonicalKernelType(from.kernel_type) != kernel) {
    TRY(AddKernel(kernel, booted, machine, changes));
  }
  const bool has_extensions = !from.extensions.empty() || !to.extensions.empty();
  if (has_extensions && (is_new_image || from.extensions != to.extensions)) {
    TRY(AddExtensions(to.extensions, booted, changes));
  }
  return changes;
}

bool IsOfExtensionOrKernel(std::string_view package) {
  static const NameSet kAll = PackagesOfAll();
  return kAll.contains(package) || IsOfOtherKernel(package) || IsOfImageKernel(package);
}

}  // namespace pintle::plan
