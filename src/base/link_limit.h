// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace pintle {

// The maximum number of symbolic links that are followed on the way to a file.  The kernel has the same limit.
inline constexpr int kMostLinks = 40;

}  // namespace pintle
