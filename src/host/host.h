// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a change of a machine can touch.

#include "base/clock.h"
#include "base/root.h"
#include "host/deployments.h"
#include "host/selinux.h"
#include "host/systemd.h"

namespace pintle::host {

struct Host {
  const Root& root;
  Systemd& systemd;
  const Clock& clock;
  Labels labels;
  Deployments* deployments = nullptr;  // None: the OS of this machine is not changed by us.
  // Whether that is so because it runs and has no OSTree: its package manager changes the OS.
  bool is_package_based = false;
};

}  // namespace pintle::host
