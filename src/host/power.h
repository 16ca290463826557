// SPDX-License-Identifier: Apache-2.0
#pragma once

// Whether the machine stays up.

#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace pintle::host {

// As long as this lives, nobody shuts the machine down by accident.  The kernel ends it with the process, however that
// ends.
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

  // Begins a reboot, and returns while it goes on.  Whoever is logged in is told the reason.  An inhibitor of our own
  // has to be gone by then.
  virtual Result<> Reboot(const std::string& reason) = 0;

  // Keeps others from shutting down; `why` is shown to them.
  virtual Result<Inhibitor> InhibitShutdown(const std::string& why) = 0;
};

}  // namespace pintle::host
