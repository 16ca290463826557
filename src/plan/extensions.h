// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides which packages a machine gets and loses when its extensions or its kernel change.
//
// The rules are the Machine Config Operator's, for RHCOS and SCOS; other systems have none of these packages.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "resource/deployment.h"

namespace pintle::plan {

// The packages that rpm-ostree was asked to layer on the booted image.
struct LayeredPackages {
  std::vector<std::string> requested;
  std::vector<std::string> removed;  // Packages of the image that were removed.
};

// Changes of the packages that are layered on the booted image or removed from it, named like the options of
// rpm-ostree.  A package in both `install` and `uninstall` ends up installed, and one in both `override_remove` and
// `override_reset` ends up removed.
struct PackageChanges {
  std::vector<std::string> install;
  std::vector<std::string> uninstall;
  std::vector<std::string> override_remove;
  std::vector<std::string> override_reset;

  bool IsEmpty() const {
    return install.empty() && uninstall.empty() && override_remove.empty() && override_reset.empty();
  }
  bool operator==(const PackageChanges&) const = default;
};

// Returns the changes that lead from one state to the other.  `machine` is the architecture, as uname(2) names it.  The
// kernel's packages are chosen anew with each new image, since their names may differ there.
Result<PackageChanges> PackagesFor(const resource::Deployment::State& from, const resource::Deployment::State& to,
                                   const LayeredPackages& booted, std::string_view machine);

// Returns the packages whose presence decides whether a machine has its extensions and its kernel.
std::vector<std::string> PackagesToCheck(const resource::Deployment::State& want, std::string_view machine);

// The extensions and the kernel that a machine lacks.
struct MissingParts {
  std::vector<std::string> extensions;     // The names of the missing extensions.
  std::optional<std::string> kernel_type;  // The kernel that the machine has, if it is wrong or lacks packages.
  std::vector<std::string> problems;       // One text for each missing extension, and one for the kernel.
};

// `lacking` are the packages of PackagesToCheck() that are neither layered on the booted image nor in it.  If `want`
// names no image and wants the default kernel, another kernel is not reported.
MissingParts FindMissing(const resource::Deployment::State& want, const LayeredPackages& booted,
                         const std::vector<std::string>& lacking, std::string_view machine);

// Returns whether the package belongs to an extension, to the image's kernel or to another kernel.
bool IsOfExtensionOrKernel(std::string_view package);

}  // namespace pintle::plan
