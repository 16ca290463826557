// SPDX-License-Identifier: Apache-2.0
#pragma once

// The parts of a machine that a change can touch.

#include "base/clock.h"
#include "base/root.h"
#include "host/files/selinux.h"
#include "host/ostree/deployments.h"
#include "host/systemd/systemd.h"

namespace pintle::host {

struct Host {
  const Root& root;
  Systemd& systemd;
  const Clock& clock;
  Labels labels;
  Deployments* deployments = nullptr;  // Null if Pintle does not change the OS of this machine.
  // Set if the running machine has no OSTree, so that its package manager changes the OS; `deployments` is null then.
  bool is_package_based = false;
};

}  // namespace pintle::host
