// SPDX-License-Identifier: Apache-2.0
#pragma once

// Applies a machine's first config, which comes with it in a file that Ignition writes.
//
// The file has the config without its files, since Ignition has written those already: the OS image, kernel arguments
// and extensions are left.  They become true in one deployment and with one reboot.  Moving the file aside is a part of
// the same change, so that it is there as long as there is work to do and never after that, even if the power fails.

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
  std::string file;
  // The machine has a config already, so that only the file has to be moved aside.
  bool is_late = false;
  CurrentConfig from;
  CurrentConfig to;

  bool IsWork() const;
};

// Returns the work, or nullopt if there is no such file.  `booted` is the OS as it is now, if that is known.
Result<std::optional<FirstBoot>> FindFirstBoot(const host::Host& host, const std::string& file,
                                               const std::optional<host::DeployedImage>& booted);

Result<Ending> Complete(const host::Host& host, const FirstBoot& first, const Progress& progress);

}  // namespace pintle::change
