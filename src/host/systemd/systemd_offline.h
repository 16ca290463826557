// SPDX-License-Identifier: Apache-2.0
#pragma once

// Implements Systemd without a call to the service manager.  This is for the next deployment, for a root that the
// initramfs has mounted, and for this machine early in a boot or late in a shutdown, when D-Bus is not there.
//
// Enabling or disabling a unit only changes links.  Reload() and Run() do nothing: new links take effect with the
// next boot, or when systemd is made to reload later in this boot.  Observe() reports each unit as inactive.

#include "base/root.h"
#include "host/systemd/systemd.h"

namespace pintle::host {

class SystemdOffline final : public Systemd {
 public:
  explicit SystemdOffline(const Root& root) : root_(root) {}

  Result<> PutEnablement(std::span<const resource::Put<resource::UnitState>> units) override;
  Result<resource::UnitLinks::State> ObserveLinks() override;
  Result<> PutLinks(const resource::UnitLinks::State& links) override;
  Result<> Reload() override;
  Result<> Run(JobKind job, const std::string& unit, std::chrono::milliseconds patience) override;
  Result<UnitStatus> Observe(const std::string& unit) override;

 private:
  const Root& root_;
};

}  // namespace pintle::host
