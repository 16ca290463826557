// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/result.h"

namespace pintle {

// Writes everything to an open file, however little the kernel takes at a time.
Result<> WriteAll(int fd, std::string_view bytes);

}  // namespace pintle
