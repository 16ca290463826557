// SPDX-License-Identifier: Apache-2.0
#include "change/missing_parts.h"

#include <set>
#include <string>
#include <vector>

#include "host/architecture.h"
#include "host/installed_packages.h"

namespace pintle::change {
namespace {

// Removes the packages that are also in `others`.
void LeaveOut(const std::vector<std::string>& others, std::vector<std::string>& packages) {
  const std::set<std::string> left_out(others.begin(), others.end());
  std::erase_if(packages, [&](const std::string& package) { return left_out.contains(package); });
}

}  // namespace

// `booted` has the names of the layered packages.  The packages of the image itself are only in the machine's package
// database.  The database is not read if all wanted packages are layered.
Result<plan::MissingParts> FindMissingParts(const host::Host& host, const host::DeployedImage& booted,
                                            const resource::Deployment::State& want) {
  if (host.deployments == nullptr || !host.deployments->LayersPackages()) return plan::MissingParts();
  const std::string machine = TRY(host::Architecture());
  std::vector<std::string> lacking = plan::PackagesToCheck(want, machine);
  LeaveOut(booted.packages, lacking);
  if (!lacking.empty()) LeaveOut(TRY(host::InstalledPackages()), lacking);
  return plan::FindMissing(want, {booted.packages, booted.removed_packages}, lacking, machine);
}

}  // namespace pintle::change
