// SPDX-License-Identifier: Apache-2.0
#pragma once

// Implements Deployments with libostree.
//
// Each call that writes runs on a thread with a mount namespace of its own, in which /sysroot and /boot are writable.
// For other processes, the two stay as they are.  Deployments are changed under the lock that rpm-ostree also takes.

#include <chrono>
#include <string>
#include <utility>

#include "host/ostree/deployments.h"
#include "host/ostree/ostree_module.h"
#include "host/ostree/skopeo.h"

namespace pintle::host {

class DeploymentsOstree final : public Deployments {
 public:
  // The arguments are those of OstreeModule::open_disk.
  explicit DeploymentsOstree(std::string sysroot, RegistryAccess registries = {},
                             std::chrono::milliseconds patience = kSysrootPatience);

  void SetProgressCallback(ProgressCallback report) override { report_ = std::move(report); }
  Result<DeploymentsState> Observe() override;
  Result<std::string> RunningTransaction() override;
  Result<FetchedImage> Fetch(const std::string& image, const std::stop_token& stop) override;
  bool LayersPackages() const override { return false; }
  Result<std::unique_ptr<OfferedPackages>> OfferPackages(const std::string& image,
                                                         const std::stop_token& stop) override;
  Result<PutEffect> Put(const WantedDeployment& wanted) override;
  Result<PutEffect> DropPending() override;
  Result<PutEffect> RollBack() override;
  Result<PutEffect> FinalizeStaged(const std::function<Result<>(const Root& next)>& put) override;
  Result<bool> HasUnneededImages() override;
  Result<> Prune() override;

 private:
  std::string sysroot_;
  RegistryAccess registries_;
  std::chrono::milliseconds patience_;
  ProgressCallback report_;
};

}  // namespace pintle::host
