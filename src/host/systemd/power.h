// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reboots the machine, and keeps others from shutting it down.

#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace pintle::host {

// Keeps others from shutting the machine down by accident while this object lives.  logind releases the lock when the
// process ends, for whatever reason, since that closes the descriptor.
class Inhibitor {
 public:
  Inhibitor() = default;
  explicit Inhibitor(UniqueFd hold) : hold_(std::move(hold)) {}

 private:
  UniqueFd hold_;
};

class Power {
 public:
  virtual ~Power() = default;

  // Begins a reboot and returns while it is under way.  Users who are logged in see the reason.  The caller must have
  // released its own inhibitor.
  virtual Result<> Reboot(const std::string& reason) = 0;

  // Keeps others from shutting the machine down.  Whoever tries sees `reason`.
  virtual Result<Inhibitor> InhibitShutdown(const std::string& reason) = 0;
};

}  // namespace pintle::host
