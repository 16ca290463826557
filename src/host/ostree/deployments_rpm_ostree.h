// SPDX-License-Identifier: Apache-2.0
#pragma once

// Implements Deployments with rpm-ostree, on hosts where it runs.
//
// Only rpm-ostree can unpack images that are made for it, and layer packages on an image.  Operations on the disk
// alone use libostree: reading, finalizing, rolling back, and making a new deployment of the same image, which keeps
// the origin that rpm-ostree has written.

#include <string>

#include "host/ostree/deployments.h"
#include "host/ostree/deployments_ostree.h"
#include "host/ostree/rpm_ostree_transaction_dbus.h"
#include "host/ostree/skopeo.h"
#include "host/systemd/systemd.h"

namespace pintle::host {

class DeploymentsRpmOstree final : public Deployments {
 public:
  // For the running machine.  rpm-ostree fetches images with the machine's own certificate authorities and policy for
  // signatures, and with the pull secrets of `registries`.  `manners` apply to all calls.
  DeploymentsRpmOstree(Systemd& systemd, RegistryAccess registries, RpmOstreeSettings manners = {});

  void TellProgressTo(TellHowFar tell) override;
  Result<DeploymentsState> Observe() override;
  Result<std::string> UnderWay() override;

  // The result has no commit for a container image, since that is known only once the image is deployed.
  Result<FetchedImage> Fetch(const std::string& image, const std::stop_token& stop) override;

  bool LayersPackages() const override { return true; }
  Result<std::unique_ptr<OfferedPackages>> OfferPackages(const std::string& image,
                                                         const std::stop_token& stop) override;

  // Drops the pending deployment first.  After an error nothing is pending any more.
  Result<PutEffect> Put(const WantedDeployment& wanted) override;

  Result<PutEffect> DropPending() override;
  Result<PutEffect> RollBack() override;
  Result<PutEffect> FinalizeStaged(const std::function<Result<>(const Root& next)>& put) override;
  Result<> Prune() override;

 private:
  struct Goal;

  Result<> AllowRegistry() const;
  Result<> Make(const Goal& goal, const DeploymentsState& state);
  Result<> Expect(const Goal& goal);
  Result<> Drop();

  Systemd& systemd_;
  RegistryAccess registries_;
  RpmOstreeSettings manners_;
  DeploymentsOstree disk_;
};

}  // namespace pintle::host
