// SPDX-License-Identifier: Apache-2.0
#pragma once

// Checks that files with keys are private.

#include <string>
#include <string_view>

#include "base/result.h"

namespace pintle::serving {

// Returns whether every user may read a file; follows symlinks.  Returns false for a file that cannot be examined,
// because opening the file will report the error.
bool IsReadableByAll(const std::string& path);

// Returns an error that names the remedy, and another remedy for pods, because Kubernetes gives a Secret's files the
// mode 0644 by default.  `contents` describes what is in the file.
Error ReadableByAllError(std::string_view contents, const std::string& path);

}  // namespace pintle::serving
