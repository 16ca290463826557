// SPDX-License-Identifier: Apache-2.0
#pragma once

// Whether the deployment that the next boot takes is that of a change, or of someone else.
//
// While a change waits for the reboot, an administrator may stage another deployment, by rpm-ostree or by ostree, which
// takes the place of the staged one.  It is theirs: it is neither finalized as ours nor dropped with the change.

#include <string>

#include "base/result.h"
#include "change/change.h"
#include "host/deployments.h"

namespace pintle::change {

enum class Rebooted { kNo, kYes };

// `pending` is what the next boot takes now; `rebooted` is whether the machine has been since the change began.
bool IsOfChange(const NextBoot& change, const host::DeployedImage& pending, Rebooted rebooted);

// Notes what was staged for the change just now.
Result<> NoteStaged(host::Deployments& deployments, NextBoot& change);

// Says that it stays.
std::string SomeoneElses(const host::DeployedImage& deployment);

}  // namespace pintle::change
