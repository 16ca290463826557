// SPDX-License-Identifier: Apache-2.0
#pragma once

// Deployments by libostree, from a module that is loaded when they are first needed.
//
// libostree, GLib and what they need take longer to load than most commands take to run, and a machine without OSTree
// need not even have them.

#include <chrono>
#include <memory>
#include <string>

#include "base/result.h"
#include "host/ostree/deployments.h"
#include "host/ostree/rpm_ostree_transaction_dbus.h"
#include "host/ostree/skopeo.h"
#include "host/systemd/systemd.h"

namespace pintle::host {

// What the module defines under the name kOstreeModuleSymbol.
struct OstreeModule {
  // Those on a disk; the sysroot "/" is the running machine.  `patience` is for whoever else has the lock.
  std::unique_ptr<Deployments> (*open_disk)(std::string sysroot, RegistryAccess registries,
                                            std::chrono::milliseconds patience);
  // Those of the running machine, where rpm-ostree has charge of them.
  std::unique_ptr<Deployments> (*open_rpm_ostree)(Systemd& systemd, RegistryAccess registries,
                                                  RpmOstreeManners manners);
};

constexpr const char* kOstreeModuleSymbol = "pintle_ostree_module";
constexpr auto kSysrootPatience = std::chrono::minutes(2);

// The error names the package that is missing.
Result<const OstreeModule*> LoadOstreeModule();

// The deployments on the running machine's disk, by libostree alone.
Result<std::unique_ptr<Deployments>> OpenOwnDisk(RegistryAccess registries = {});

}  // namespace pintle::host
