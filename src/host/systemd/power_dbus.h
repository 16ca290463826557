// SPDX-License-Identifier: Apache-2.0
#pragma once

// Implements Power with systemd-logind.

#include "host/systemd/power.h"

namespace pintle::host {

class PowerDbus final : public Power {
 public:
  Result<> Reboot(const std::string& reason) override;
  Result<Inhibitor> InhibitShutdown(const std::string& reason) override;
};

}  // namespace pintle::host
