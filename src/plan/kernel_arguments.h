// SPDX-License-Identifier: Apache-2.0
#pragma once

// Splits kernel arguments as the kernel does.

#include <span>
#include <string>
#include <vector>

namespace pintle::plan {

// Returns the arguments.  A text may hold several arguments with blanks between them; blanks between double quotes
// belong to an argument.
std::vector<std::string> SplitArguments(std::span<const std::string> texts);

// Returns the options for `rpm-ostree kargs` that turn one list into the other.
std::vector<std::string> RpmOstreeArguments(std::span<const std::string> from, std::span<const std::string> to);

}  // namespace pintle::plan
