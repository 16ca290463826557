// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reboots the machine, and keeps others from doing so.

#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace pintle::host {

// Keeps others from shutting the machine down by accident while it lives.  The kernel releases it when the process
// ends, for whatever reason.
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

  // Begins a reboot and returns while it is under way.  The reason is shown to users who are logged in.  An inhibitor
  // of our own must have been released.
  virtual Result<> Reboot(const std::string& reason) = 0;

  // Keeps others from shutting down; `why` is shown to them.
  virtual Result<Inhibitor> InhibitShutdown(const std::string& why) = 0;
};

}  // namespace pintle::host
