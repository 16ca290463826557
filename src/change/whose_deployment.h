// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides whether the deployment that boots next was staged for a change, or by someone else.
//
// While a change waits for the reboot, an administrator may stage another deployment with rpm-ostree or ostree, which
// replaces the one of the change.  The change does not finalize the administrator's deployment, and undoing the change
// does not drop it.

#include <string>

#include "base/result.h"
#include "change/change.h"
#include "host/ostree/deployments.h"

namespace pintle::change {

enum class Rebooted { kNo, kYes };

// Returns whether `pending`, the deployment that would boot next, was staged for the change.  `rebooted` is kYes if the
// machine has booted since the change began.
bool IsOfChange(const NextBoot& change, const host::DeployedImage& pending, Rebooted rebooted);

// Records in `change` the deployment that was just staged for it.
Result<> RecordStaged(host::Deployments& deployments, NextBoot& change);

// Returns a message that this deployment belongs to someone else, and is still the next one to boot.
std::string SomeoneElsesText(const host::DeployedImage& deployment);

}  // namespace pintle::change
