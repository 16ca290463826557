// SPDX-License-Identifier: Apache-2.0
#pragma once

// Whether there is room for a change on the disk, worked out before anything of it is put.

#include "base/result.h"
#include "change/change.h"
#include "host/blob_store.h"
#include "host/host.h"

namespace pintle::change {

// New files are written beside those that are there, and to undo this takes no more, since the new ones go away with
// it. The journal is written twice.
Result<> ExpectRoom(const host::Host& host, const Change& change, const host::BlobStore& contents);

}  // namespace pintle::change
