// SPDX-License-Identifier: Apache-2.0
#pragma once

// Puts the files of an interrupted change early in the boot, before services read them.
//
// After a power cut in the middle of a change, the disk may hold files of both configs.  Then the old files are put
// back.  If the new deployment was booted without its files, the new files are put instead.  No service is started or
// restarted, and the journal stays as it is.  Later in the boot, when D-Bus answers, Recover() reads the journal and
// does everything else.

#include <string>
#include <vector>

#include "base/result.h"
#include "change/change.h"
#include "host/host.h"

namespace pintle::change {

// Puts the files, and returns the change that they belong to.  Returns nullopt if no file has to be put this early, for
// example because no change from an earlier boot is in the journal.  Also returns nullopt, and leaves the rest to
// Recover(), if someone has booted another deployment than those of the change, or has edited a file that the change
// puts into the new deployment.
//
// The service manager cannot be used yet, so `host` must have a SystemdOffline, which makes the links of units itself.
Result<std::optional<Change>> PutFilesEarly(const host::Host& host);

// Returns the units whose files, links or enablement the change has steps for.  Systemd may have queued jobs for these
// units before their files were put.
std::vector<std::string> UnitsOf(const Change& change);

}  // namespace pintle::change
