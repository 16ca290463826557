// SPDX-License-Identifier: Apache-2.0
#pragma once

// A machine's first config, which comes with it in a file that Ignition writes.
//
// What is in that file is the config without its files, which Ignition has written as well: the OS image, kernel
// arguments and extensions.  They become true in one deployment and with one reboot.  That the file is put aside is a
// part of the same change, so that it is there as long as there is something to do, and never after that: not even on a
// machine that loses its power.

#include <optional>
#include <string>

#include "base/result.h"
#include "change/apply.h"
#include "change/current_config.h"
#include "host/deployments.h"
#include "host/host.h"
#include "plan/plan.h"

namespace pintle::change {

inline constexpr const char* kFirstConfig = "/etc/ignition-machine-config-encapsulated.json";
inline constexpr const char* kFirstConfigAside = "/etc/ignition-machine-config-encapsulated.json.bak";

struct FirstBoot {
  std::string file;
  // The machine has a config by now, so that only the file is left to be put aside.
  bool is_late = false;
  CurrentConfig from;
  CurrentConfig to;

  bool IsWork() const;
};

// What there is to do; nothing where there is no such file.  `booted`: the OS as it is now, if that is known.
Result<std::optional<FirstBoot>> FindFirstBoot(const host::Host& host, const std::string& file,
                                               const std::optional<host::DeployedImage>& booted);

Result<Ending> Complete(const host::Host& host, const FirstBoot& first, const Progress& progress);

}  // namespace pintle::change
