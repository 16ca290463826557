// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace pintle {

// Returns the names in an open directory, without "." and "..", in the order in which the file system has them.
Result<std::vector<std::string>> NamesIn(UniqueFd directory);

}  // namespace pintle
