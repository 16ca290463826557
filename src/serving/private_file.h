// SPDX-License-Identifier: Apache-2.0
#pragma once

// Checks that files with keys are private.

#include <string>
#include <string_view>

#include "base/result.h"

namespace pintle::serving {

// Follows symlinks.  Returns false for a file that cannot be examined; opening the file will report the error.
bool IsReadableByAll(const std::string& path);

// Returns an error that names the remedy, also for a pod: Kubernetes gives a Secret's files the mode 0644 by default.
Error ReadableByAllError(std::string_view what, const std::string& path);

}  // namespace pintle::serving
