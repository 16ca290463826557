// SPDX-License-Identifier: Apache-2.0
#pragma once

// Implements Deployments with rpm-ostree, on hosts where it runs.
//
// rpm-ostree fetches container images, deploys images, and layers packages on them.  Operations on the disk alone use
// libostree: reading, finalizing, rolling back, and making a new deployment of the same image, which keeps the origin
// that rpm-ostree has written.

#include <string>

#include "host/ostree/deployments.h"
#include "host/ostree/deployments_ostree.h"
#include "host/ostree/rpm_ostree_transaction_dbus.h"
#include "host/ostree/skopeo.h"
#include "host/systemd/systemd.h"

namespace pintle::host {

class DeploymentsRpmOstree final : public Deployments {
 public:
  // Opens the deployments of the running machine.  rpm-ostree fetches images with the machine's own certificate
  // authorities and policy for signatures, and with the pull secrets of `registries`.  `settings` apply to all calls.
  DeploymentsRpmOstree(Systemd& systemd, RegistryAccess registries, RpmOstreeSettings settings = {});

  void SetProgressCallback(ProgressCallback report) override;
  Result<DeploymentsState> Observe() override;
  Result<std::string> RunningTransaction() override;

  // For a container image, the result has no commit, since the commit is known only after the image is deployed.
  Result<FetchedImage> Fetch(const std::string& image, const std::stop_token& stop) override;

  bool LayersPackages() const override { return true; }
  Result<std::unique_ptr<OfferedPackages>> OfferPackages(const std::string& image,
                                                         const std::stop_token& stop) override;

  // Drops the pending deployment before it makes the wanted one.  If making the wanted one fails, no deployment is
  // pending.
  Result<PutEffect> Put(const WantedDeployment& wanted) override;

  Result<PutEffect> DropPending() override;
  Result<PutEffect> RollBack() override;
  Result<PutEffect> FinalizeStaged(const std::function<Result<>(const Root& next)>& put) override;
  Result<> Prune() override;

 private:
  struct Spec;

  Result<> LinkPullSecrets() const;
  Result<> MakeDeployment(const Spec& spec, const DeploymentsState& state);
  Result<> ExpectPending(const Spec& spec);
  Result<> Drop();

  Systemd& systemd_;
  RegistryAccess registries_;
  RpmOstreeSettings settings_;
  DeploymentsOstree disk_;
};

}  // namespace pintle::host
