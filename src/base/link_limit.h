// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace pintle {

// How many symbolic links are followed on the way to a file: as many as the kernel follows.
inline constexpr int kMostLinks = 40;

}  // namespace pintle
