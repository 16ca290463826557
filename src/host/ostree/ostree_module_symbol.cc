// SPDX-License-Identifier: Apache-2.0

// Defines the functions that the module offers to the program that loads it.

#include <utility>

#include "host/ostree/deployments_ostree.h"
#include "host/ostree/deployments_rpm_ostree.h"
#include "host/ostree/ostree_module.h"

namespace pintle::host {
namespace {

std::unique_ptr<Deployments> OpenDisk(std::string sysroot, RegistryAccess registries,
                                      std::chrono::milliseconds patience) {
  return std::make_unique<DeploymentsOstree>(std::move(sysroot), std::move(registries), patience);
}

std::unique_ptr<Deployments> OpenRpmOstree(Systemd& systemd, RegistryAccess registries, RpmOstreeSettings settings) {
  return std::make_unique<DeploymentsRpmOstree>(systemd, std::move(registries), std::move(settings));
}

}  // namespace
}  // namespace pintle::host

extern "C" const pintle::host::OstreeModule pintle_ostree_module = {.open_disk = pintle::host::OpenDisk,
                                                                    .open_rpm_ostree = pintle::host::OpenRpmOstree};
