// SPDX-License-Identifier: Apache-2.0
#pragma once

// The service manager, as far as a change of a node needs it.

#include <chrono>
#include <span>
#include <string>

#include "base/result.h"
#include "resource/resource.h"
#include "resource/unit_state.h"

namespace pintle::host {

enum class JobKind { kStart, kStop, kRestart, kTryRestart, kReload, kReloadOrRestart };

// What systemd says of a unit, in its own words: "enabled", "masked", "active", "failed", "not-found".
struct UnitStatus {
  std::string load_state;
  std::string active_state;
  std::string file_state;
  bool is_called_for = false;  // It has a job, or a unit that is loaded wants or requires it.
};

class Systemd {
 public:
  virtual ~Systemd() = default;

  // Makes the links of the units as their [Install] sections and the presets say, all of them or, when one fails, as
  // many as there were until then; the way back is PutLinks.  A unit without a file loses the links that name it.
  virtual Result<> PutEnablement(std::span<const resource::Put<resource::UnitState>> units) = 0;

  virtual Result<resource::UnitLinks::State> ObserveLinks() = 0;
  virtual Result<> PutLinks(const resource::UnitLinks::State& links) = 0;

  // Has systemd read its configuration anew.
  virtual Result<> Reload() = 0;

  // Runs one job and waits until it is done; one that is not done in time is cancelled and an error.
  virtual Result<> Run(JobKind job, const std::string& unit, std::chrono::milliseconds patience) = 0;

  virtual Result<UnitStatus> Observe(const std::string& unit) = 0;
};

}  // namespace pintle::host
