// SPDX-License-Identifier: Apache-2.0
#pragma once

// Files with keys in them, which are good for nothing once everyone on the machine may read them.

#include <string>
#include <string_view>

#include "base/result.h"

namespace pintle::controller {

// Follows links.  False for a file that cannot be looked at: whoever opens it reports the error.
bool IsReadableByAll(const std::string& path);

// An error that names the remedy, also for a pod, to which Kubernetes gives a Secret with the mode 0644 unless it is
// told otherwise.
Error ReadableByAll(std::string_view what, const std::string& path);

}  // namespace pintle::controller
