// SPDX-License-Identifier: Apache-2.0
#pragma once

// Checks, before anything is put, that the disk has room for a change.

#include "base/result.h"
#include "change/change.h"
#include "host/files/blob_store.h"
#include "host/host.h"

namespace pintle::change {

// Returns an error if a file system has too little room.  New files need room beside the old ones.  Undoing needs no
// more room, since it removes the new files.  The journal needs room for two copies.
Result<> ExpectRoom(const host::Host& host, const Change& change, const host::BlobStore& contents);

}  // namespace pintle::change
