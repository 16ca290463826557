// SPDX-License-Identifier: Apache-2.0
#include "host/ostree/open_deployments.h"

#include <utility>

#include "host/ostree/ostree_module.h"
#include "host/ostree/rpm_ostree_dbus.h"

namespace pintle::host {

Result<std::unique_ptr<Deployments>> OpenDeployments(Systemd& systemd, RegistryAccess registries,
                                                     RpmOstreeSettings settings) {
  auto disk = TRY(OpenRunningDisk(registries));
  TRY(disk->Observe());
  // If the unit is masked, the administrator does not want rpm-ostree to be used.
  const UnitStatus unit = TRY(systemd.Observe(kRpmOstreeUnit), "looking for rpm-ostree");
  if (unit.load_state != "loaded") return disk;
  return TRY(LoadOstreeModule())->open_rpm_ostree(systemd, std::move(registries), std::move(settings));
}

}  // namespace pintle::host
