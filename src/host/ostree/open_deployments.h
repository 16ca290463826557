// SPDX-License-Identifier: Apache-2.0
#pragma once

// Opens the deployments of the running machine, through rpm-ostree or libostree.

#include <memory>

#include "base/result.h"
#include "host/ostree/deployments.h"
#include "host/ostree/rpm_ostree_transaction_dbus.h"
#include "host/ostree/skopeo.h"
#include "host/systemd/systemd.h"

namespace pintle::host {

// Uses rpm-ostree if systemd has its unit and the unit is not masked, and libostree otherwise.  On a machine without
// OSTree, returns an error of the kind kNotFound.  `systemd` must outlive the result.
Result<std::unique_ptr<Deployments>> OpenDeployments(Systemd& systemd, RegistryAccess registries,
                                                     RpmOstreeSettings settings = {});

}  // namespace pintle::host
