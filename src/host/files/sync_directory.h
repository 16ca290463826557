// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include "base/result.h"

namespace pintle::host {

// Makes changes of the names in an open directory durable.
inline Result<> SyncDirectory(int directory) {
  if (::fsync(directory) != 0) return Error::FromErrno("fsync of the directory");
  return {};
}

}  // namespace pintle::host
