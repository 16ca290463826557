// SPDX-License-Identifier: Apache-2.0
#pragma once

// Splits and merges the kernel arguments of a deployment.  Their order matters, and arguments may repeat.

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pintle::host {

// Splits a boot entry's options at blanks, as the kernel does.  Blanks between double quotes do not split.
std::vector<std::string> SplitKernelArguments(std::string_view options);

// Removes all arguments in `remove` from `current`, and makes each argument in `add` occur exactly once: at its first
// place in `current`, or at the end.  Other arguments stay as they are.  An argument in both lists is added.
std::vector<std::string> MergedKernelArguments(std::span<const std::string> current,
                                               std::span<const std::string> remove, std::span<const std::string> add);

}  // namespace pintle::host
