// SPDX-License-Identifier: Apache-2.0
#pragma once

// Deployments by rpm-ostree, on hosts where it runs.
//
// It alone can unpack the images that are made for it, and layer packages on an image.  What concerns only the disk is
// done on the disk, in the way of libostree: reading, finalizing, rolling back, and a new deployment of the same image,
// whose origin stays what rpm-ostree has written into it.

#include <string>

#include "host/deployments.h"
#include "host/deployments_ostree.h"
#include "host/rpm_ostree_transaction_dbus.h"
#include "host/skopeo.h"
#include "host/systemd.h"

namespace pintle::host {

class DeploymentsRpmOstree final : public Deployments {
 public:
  // Of the running machine.  Images are fetched by rpm-ostree, with the machine's own authorities and policy of
  // signatures, and these pull secrets.  `manners` hold for all calls.
  DeploymentsRpmOstree(Systemd& systemd, RegistryAccess registries, RpmOstreeManners manners = {});

  void TellProgressTo(TellHowFar tell) override;
  Result<DeploymentsState> Observe() override;
  Result<std::string> UnderWay() override;

  // The commit of a container image is known only when it is deployed, and left empty here.
  Result<FetchedImage> Fetch(const std::string& image, const std::stop_token& stop) override;

  bool LayersPackages() const override { return true; }
  Result<std::unique_ptr<OfferedPackages>> OfferPackages(const std::string& image,
                                                         const std::stop_token& stop) override;

  // What is pending already is dropped first.  When something fails, nothing is pending any more.
  Result<Putting> Put(const WantedDeployment& wanted) override;

  Result<Putting> DropPending() override;
  Result<Putting> RollBack() override;
  Result<Putting> FinalizeStaged(const std::function<Result<>(const Root& next)>& put) override;
  Result<> Prune() override;

 private:
  struct Goal;

  Result<> AllowRegistry() const;
  Result<> Make(const Goal& goal, const DeploymentsState& state);
  Result<> Expect(const Goal& goal);
  Result<> Drop();

  Systemd& systemd_;
  RegistryAccess registries_;
  RpmOstreeManners manners_;
  DeploymentsOstree disk_;
};

}  // namespace pintle::host
