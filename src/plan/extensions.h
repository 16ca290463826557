// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which packages a machine gets and loses when its extensions or its kernel change.
//
// The Machine Config Operator's rules.  They are for RHCOS and SCOS: other systems have none of these packages.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "resource/deployment.h"

namespace pintle::plan {

// What rpm-ostree was asked for on top of the image that is booted.
struct LayeredPackages {
  std::vector<std::string> requested;
  std::vector<std::string> removed;  // Packages of the image that were taken out.
};

// What is both installed and uninstalled, or both taken out and put back, is to be as if it was not there before.
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

// `machine` as uname(2) calls it.  The kernel's packages are chosen anew with each new image, since those of an image
// may have other names.
Result<PackageChanges> PackagesFor(const resource::Deployment::State& from, const resource::Deployment::State& to,
                                   const LayeredPackages& booted, std::string_view machine);

// Those by which it can be told whether a machine has its extensions and its kernel.
std::vector<std::string> PackagesThatTell(const resource::Deployment::State& want, std::string_view machine);

// What a machine lacks of its extensions and its kernel.
struct MissingParts {
  std::vector<std::string> extensions;     // Their names.
  std::optional<std::string> kernel_type;  // The one that it has, where it is to have another.
  std::vector<std::string> problems;       // The same, in words.
};

// `lacking`: of PackagesThatTell() those that are neither layered on what is booted nor in its image.  What says
// nothing of an image says nothing of its kernel either, unless it is another than the image's.
MissingParts FindMissing(const resource::Deployment::State& want, const LayeredPackages& booted,
                         const std::vector<std::string>& lacking, std::string_view machine);

// Whether some extension, or another kernel, comes with it.
bool IsOfExtension(std::string_view package);

}  // namespace pintle::plan
