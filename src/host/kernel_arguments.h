// SPDX-License-Identifier: Apache-2.0
#pragma once

// The kernel arguments of a deployment: a list in which order matters and some occur more than once.

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pintle::host {

// Splits a boot entry's options as the kernel does: blanks between double quotes belong to an argument.
std::vector<std::string> SplitKernelArguments(std::string_view options);

// Takes all of `remove` out of `current`, and has each of `add` in it just once, at the first place where it was or
// else at the end.  The others stay as they are.  What is in both lists is wanted.
std::vector<std::string> MergedKernelArguments(std::span<const std::string> current,
                                               std::span<const std::string> remove, std::span<const std::string> add);

}  // namespace pintle::host
