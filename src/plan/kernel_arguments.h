// SPDX-License-Identifier: Apache-2.0
#pragma once

// Kernel arguments, as the kernel splits them.

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pintle::plan {

// Several arguments may stand in one text, with blanks between them; blanks between double quotes belong to an
// argument.
std::vector<std::string> SplitArguments(std::span<const std::string> texts);

// What `rpm-ostree kargs` must be told to get from one list to the other.
std::vector<std::string> RpmOstreeArguments(std::span<const std::string> from, std::span<const std::string> to);

}  // namespace pintle::plan
