// SPDX-License-Identifier: Apache-2.0

// The stand-in for DeploymentsOstree in a build without libostree: every call fails.

#include <utility>

#include "host/ostree/deployments_ostree.h"
#include "host/ostree/extensions_image.h"

namespace pintle::host {
namespace {

Error None() { return Error(ErrorKind::kNotFound, "this Pintle was built without OSTree"); }

}  // namespace

DeploymentsOstree::DeploymentsOstree(std::string sysroot, RegistryAccess registries, std::chrono::milliseconds patience)
    : sysroot_(std::move(sysroot)), registries_(std::move(registries)), patience_(patience) {}

Result<DeploymentsState> DeploymentsOstree::Observe() { return None(); }
Result<std::string> DeploymentsOstree::UnderWay() { return None(); }
Result<FetchedImage> DeploymentsOstree::Fetch(const std::string&, const std::stop_token&) { return None(); }
Result<std::unique_ptr<OfferedPackages>> DeploymentsOstree::OfferPackages(const std::string&, const std::stop_token&) {
  return None();
}
Result<PutEffect> DeploymentsOstree::Put(const WantedDeployment&) { return None(); }
Result<PutEffect> DeploymentsOstree::DropPending() { return None(); }
Result<PutEffect> DeploymentsOstree::RollBack() { return None(); }
Result<PutEffect> DeploymentsOstree::FinalizeStaged(const std::function<Result<>(const Root& next)>&) { return None(); }
Result<> DeploymentsOstree::Prune() { return None(); }

ExtensionsImage::ExtensionsImage(ExtensionsImage&& other) noexcept
    : root_(std::move(other.root_)), is_there_(std::exchange(other.is_there_, false)) {}
ExtensionsImage::~ExtensionsImage() = default;
Result<ExtensionsImage> ExtensionsImage::Unpack(std::string, const std::string&, const RegistryAccess&,
                                                const std::stop_token&, const TellHowFar&) {
  return None();
}

}  // namespace pintle::host
