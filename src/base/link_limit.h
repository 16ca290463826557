// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace pintle {

// The number of symbolic links that are followed on the way to a file, which is the kernel's own limit.
inline constexpr int kMostLinks = 40;

}  // namespace pintle
