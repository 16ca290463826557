// SPDX-License-Identifier: Apache-2.0
#pragma once

// Changes that come with the next boot of an OSTree host: in a deployment of their own, so that the boot loader's one
// rename takes the machine to the new image, kernel arguments and files together, and back from them together.
//
//     stage     the deployment is staged; the running /etc stays as it is
//     finalize  at shutdown, the files go into the deployment's tree, and then the boot loader hears of it
//     recover   after the boot: is it the new one, and all as wanted?
//
// /var is the same for all deployments.  What goes there goes there at shutdown as well, and is put back if the old
// deployment is what boots.

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "change/change.h"
#include "host/blob_store.h"
#include "host/deployments.h"
#include "host/host.h"
#include "plan/plan.h"

namespace pintle::change {

// What the next boot is to take.
struct NextDeployment {
  std::string image;             // To be fetched; empty: the one that is booted.
  std::string extensions_image;  // Where packages come from.
  host::WantedDeployment wanted;
};

Result<NextDeployment> NextDeploymentFor(const host::Host& host, const plan::ParsedConfig& from,
                                         const plan::ParsedConfig& to, const plan::Difference& difference);

// Makes a change that is staged one that comes with the next boot, if the machine has deployments and it needs a reboot
// at all.  A path that is neither in /etc nor in /var is an error.
Result<> LeaveToNextBoot(const host::Host& host, Change& change);

// The managed files, and the enablement of units, that are as wanted by now: a new image must not change them when its
// /etc is merged.  Their contents are added to the store.
Result<> HoldRest(const host::Host& host, host::BlobStore& contents, const plan::ParsedConfig& to, Change& change);

// Has systemd see to it that the staged deployment gets its files when the machine shuts down.
Result<> ArmFinalizer(const host::Host& host);

// To be called at shutdown: puts what is to come with the next boot into the staged deployment, and makes that the one
// to boot.  When this fails, the machine boots what it runs now, and the journal says why.
Result<> Finalize(const host::Host& host);

// Whether the deployment that runs is the one that the change wants; the error says in what it is not.
Result<> CheckBooted(const host::Host& host, const Change& change);

// Puts into the running tree what Finalize() should have put into it before it was booted.  What someone has edited
// since the change was staged is a conflict, and then nothing is put.
Result<> PutLate(const host::Host& host, const host::BlobStore& contents, const Change& change);

// Puts back what of the change is in effect although the old deployment is booted.  Returns why the rest stays as it
// is.
Result<std::vector<std::string>> PutSharedBack(const host::Host& host, const host::BlobStore& contents,
                                               const Change& change);

}  // namespace pintle::change
