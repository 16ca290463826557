// SPDX-License-Identifier: Apache-2.0
#pragma once

// The operations of the service manager that are needed to change a node.

#include <chrono>
#include <span>
#include <string>

#include "base/result.h"
#include "resource/resource.h"
#include "resource/unit_state.h"

namespace pintle::host {

enum class JobKind { kStart, kStop, kRestart, kTryRestart, kReload, kReloadOrRestart };

// The state of a unit in systemd's words: "enabled", "masked", "active", "failed", "not-found".
struct UnitStatus {
  std::string load_state;
  std::string active_state;
  std::string file_state;
  bool is_needed = false;  // True if the unit has a job, or if a loaded unit wants or requires it.
};

class Systemd {
 public:
  virtual ~Systemd() = default;

  // Makes the links of the units as their [Install] sections and the presets demand.  The links of a unit that has no
  // file are removed.  After an error, the links that were made until then stay; PutLinks() undoes them.
  virtual Result<> PutEnablement(std::span<const resource::Put<resource::UnitState>> units) = 0;

  // Read and change the links that enable units and give them aliases (unit_links.h).
  virtual Result<resource::UnitLinks::State> ObserveLinks() = 0;
  virtual Result<> PutLinks(const resource::UnitLinks::State& links) = 0;

  // Makes systemd reload its configuration.
  virtual Result<> Reload() = 0;

  // Runs one job and waits for its end.  A job that takes longer than `patience` is cancelled, which is an error.
  virtual Result<> Run(JobKind job, const std::string& unit, std::chrono::milliseconds patience) = 0;

  // A unit that does not exist has the load state "not-found".
  virtual Result<UnitStatus> Observe(const std::string& unit) = 0;
};

}  // namespace pintle::host
