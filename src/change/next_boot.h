// SPDX-License-Identifier: Apache-2.0
#pragma once

// Leaves changes to the next boot of an OSTree host.  Each change gets a deployment of its own.  So one rename in the
// boot loader's directory switches image, kernel arguments and files together, and one rename switches them back.
//
//     stage     the deployment is staged; the running /etc stays as it is
//     finalize  at shutdown, the files go into the deployment's tree, and then the boot loader's entries are written
//     recover   after the boot, check that the new deployment runs and everything is as wanted
//
// All deployments share /var.  The change's files in /var are written at shutdown as well, and are put back if the old
// deployment boots.

#include <string>
#include <vector>

#include "base/result.h"
#include "change/change.h"
#include "host/files/blob_store.h"
#include "host/host.h"
#include "host/ostree/deployments.h"
#include "plan/plan.h"

namespace pintle::change {

// The deployment that is to boot next.
struct NextDeployment {
  std::string image;             // The image to fetch; empty for the booted image.
  std::string extensions_image;  // The image that has the packages of the extensions.
  host::WantedDeployment wanted;
};

// Returns the deployment that a change from one config to the other stages.
Result<NextDeployment> NextDeploymentFor(const host::Host& host, const plan::ParsedConfig& from,
                                         const plan::ParsedConfig& to, const plan::Difference& difference);

// Leaves a staged change to the next boot, if the machine runs one of its deployments and the change needs a reboot at
// all.  A path that is neither in /etc nor in /var is an error.  So is a directory in the place of a file, unless it is
// empty or the change removes all of its entries.
Result<> LeaveToNextBoot(const host::Host& host, Change& change);

// Adds to the change the managed files that are already as wanted, and the enablement of the units that it does not
// change.  Otherwise, a new image could change them when its /etc is merged.  The files' contents are added to the
// store.
Result<> HoldUnchanged(const host::Host& host, host::BlobStore& contents, const plan::ParsedConfig& to, Change& change);

// Makes systemd give the staged deployment its files when the machine shuts down.
Result<> ArmFinalizer(const host::Host& host);

// Puts the files of the change into the staged deployment, and makes this deployment the next to boot.  It is called at
// shutdown.  A deployment that someone else has staged is left alone.  If the change was cut short, its deployment is
// dropped.  If the files cannot be put, the deployment is dropped as well, the machine boots the running deployment
// again, and the journal has the reason.  If anything else fails, or the process is killed, the deployment may still be
// staged, so DropUnfinalized() has to follow.
Result<> Finalize(const host::Host& host);

// Drops the deployment of the change if Finalize() has left it staged.  Otherwise, OSTree's own finalizer, which runs
// next, would have the machine boot it without the change's files.  Returns an error if a change was given up with the
// deployment; the journal then has the error's message as the reason.
Result<> DropUnfinalized(const host::Host& host);

// Checks that the running deployment is the one that the change wants; the error names the differences.
Result<> CheckBooted(const host::Host& host, const Change& change);

// Puts into the running tree the things that Finalize() should have put there before the boot.  A thing that someone
// has edited since the change was staged is a conflict, and then nothing is written.
Result<> PutLate(const host::Host& host, const host::BlobStore& contents, const Change& change);

// Puts back the parts of the change that are in effect although the old deployment is booted.  Returns a reason for
// each part that could not be put back.
Result<std::vector<std::string>> PutSharedBack(const host::Host& host, const host::BlobStore& contents,
                                               const Change& change);

}  // namespace pintle::change
