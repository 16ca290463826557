// SPDX-License-Identifier: Apache-2.0
#pragma once

// The deployments of the running machine, by whoever has charge of them there.

#include <memory>

#include "base/result.h"
#include "host/deployments.h"
#include "host/rpm_ostree_transaction_dbus.h"
#include "host/skopeo.h"
#include "host/systemd.h"

namespace pintle::host {

// By rpm-ostree where systemd knows its unit, and by libostree elsewhere.  A machine without OSTree is an error of the
// kind kNotFound.  systemd must outlive what is returned.
Result<std::unique_ptr<Deployments>> OpenDeployments(Systemd& systemd, RegistryAccess registries,
                                                     RpmOstreeManners manners = {});

}  // namespace pintle::host
