// SPDX-License-Identifier: Apache-2.0
#pragma once

// The kernel arguments of a deployment: a list in which order matters and arguments may repeat.

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pintle::host {

// Splits a boot entry's options as the kernel does: blanks between double quotes belong to an argument.
std::vector<std::string> SplitKernelArguments(std::string_view options);

// Removes all of `remove` from `current`, and makes each of `add` occur exactly once, at its first place or else at
// the end.  Other arguments stay as they are.  An argument in both lists is added.
std::vector<std::string> MergedKernelArguments(std::span<const std::string> current,
                                               std::span<const std::string> remove, std::span<const std::string> add);

}  // namespace pintle::host
