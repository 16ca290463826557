// SPDX-License-Identifier: Apache-2.0
#pragma once

// Applies a machine's first config, which comes with it in a file that Ignition writes.
//
// Ignition has already written the files of that config, so usually only the OS image, the kernel, its arguments and
// the extensions are left.  They take effect in one deployment, with one reboot.  The same change moves the file with
// the config aside.  So this file exists exactly as long as there is work to do, even if the power fails.

#include <optional>
#include <string>

#include "base/result.h"
#include "change/apply.h"
#include "change/current_config.h"
#include "host/host.h"
#include "host/ostree/deployments.h"
#include "plan/plan.h"

namespace pintle::change {

inline constexpr const char* kFirstConfig = "/etc/ignition-machine-config-encapsulated.json";
inline constexpr const char* kFirstConfigAside = "/etc/ignition-machine-config-encapsulated.json.bak";

struct FirstBoot {
  std::string file;  // The path of the file with the config.
  // The machine has a config already, so only the file has to be moved aside.
  bool is_late = false;
  CurrentConfig from;
  CurrentConfig to;

  // Returns whether more has to be done than moving the file aside.
  bool HasWork() const;
};

// Returns the work, or nullopt if the file does not exist.  `booted` is the booted deployment, if it is known.
Result<std::optional<FirstBoot>> FindFirstBoot(const host::Host& host, const std::string& file,
                                               const std::optional<host::DeployedImage>& booted);

// Applies the config, unless `first.is_late`.  Moves the file aside if it is kFirstConfig; any other file stays.
Result<Ending> Complete(const host::Host& host, const FirstBoot& first, const Progress& progress);

}  // namespace pintle::change
