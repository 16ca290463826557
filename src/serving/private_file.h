// SPDX-License-Identifier: Apache-2.0
#pragma once

// Checks files with keys, which are useless once everyone on the machine may read them.

#include <string>
#include <string_view>

#include "base/result.h"

namespace pintle::serving {

// Follows symlinks.  Returns false for a file that cannot be examined: the error is reported by whoever opens it.
bool IsReadableByAll(const std::string& path);

// Returns an error that names the remedy, also for a pod: Kubernetes gives a Secret's files the mode 0644 by default.
Error ReadableByAll(std::string_view what, const std::string& path);

}  // namespace pintle::serving
