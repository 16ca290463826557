// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides whether the deployment that the next boot takes is that of a change, or someone else's.
//
// While a change waits for the reboot, an administrator may stage another deployment with rpm-ostree or ostree, which
// replaces the staged one.  It is theirs: it is neither finalized as ours nor dropped with the change.

#include <string>

#include "base/result.h"
#include "change/change.h"
#include "host/ostree/deployments.h"

namespace pintle::change {

enum class Rebooted { kNo, kYes };

// `pending` is the deployment that the next boot takes now; `rebooted` tells whether the machine has booted since the
// change began.
bool IsOfChange(const NextBoot& change, const host::DeployedImage& pending, Rebooted rebooted);

// Records what was just staged for the change.
Result<> NoteStaged(host::Deployments& deployments, NextBoot& change);

// Returns the message that this deployment stays.
std::string SomeoneElses(const host::DeployedImage& deployment);

}  // namespace pintle::change
