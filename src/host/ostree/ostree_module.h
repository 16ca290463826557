// SPDX-License-Identifier: Apache-2.0
#pragma once

// Loads the code that uses libostree from a module, when it is first needed.
//
// Loading libostree, GLib and the libraries that they need takes longer than most commands take to run.  A machine
// without OSTree does not need these libraries at all.

#include <chrono>
#include <memory>
#include <string>

#include "base/result.h"
#include "host/ostree/deployments.h"
#include "host/ostree/rpm_ostree_transaction_dbus.h"
#include "host/ostree/skopeo.h"
#include "host/systemd/systemd.h"

namespace pintle::host {

// The module defines an object of this type under the name kOstreeModuleSymbol.
struct OstreeModule {
  // Opens the deployments on a disk.  `sysroot` is "/" for the running machine.  `patience` limits the wait while
  // another process holds the lock.
  std::unique_ptr<Deployments> (*open_disk)(std::string sysroot, RegistryAccess registries,
                                            std::chrono::milliseconds patience);
  // Opens the deployments of the running machine, which rpm-ostree manages.
  std::unique_ptr<Deployments> (*open_rpm_ostree)(Systemd& systemd, RegistryAccess registries,
                                                  RpmOstreeSettings settings);
};

constexpr const char* kOstreeModuleSymbol = "pintle_ostree_module";
// The module waits this long for the lock if the caller does not choose a time.
constexpr auto kSysrootPatience = std::chrono::minutes(2);

// Returns an error that names the missing package if the module cannot be loaded.
Result<const OstreeModule*> LoadOstreeModule();

// Opens the deployments on the running machine's disk, without rpm-ostree.
Result<std::unique_ptr<Deployments>> OpenRunningDisk(RegistryAccess registries = {});

}  // namespace pintle::host
