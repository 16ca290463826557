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

// `pending` is the deployment that the next boot would take; `rebooted` tells whether the machine has booted since the
// change began.
bool IsOfChange(const NextBoot& change, const host::DeployedImage& pending, Rebooted rebooted);

// Records what was just staged for the change.
Result<> NoteStaged(host::Deployments& deployments, NextBoot& change);

// Returns a message that this deployment is someone else's, and that the next boot still takes it.
std::string SomeoneElsesText(const host::DeployedImage& deployment);

}  // namespace pintle::change
