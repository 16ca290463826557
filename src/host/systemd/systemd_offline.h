// SPDX-License-Identifier: Apache-2.0
#pragma once

// Implements Systemd for a machine that is not running: the next deployment, or the root that the initramfs has
// mounted.
//
// Enabling a unit only makes links.  Reload() and Run() do nothing, since everything takes effect with the next boot.

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
