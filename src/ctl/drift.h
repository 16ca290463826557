// SPDX-License-Identifier: Apache-2.0
#pragma once

// Describes the findings on a machine to people.

#include <string>
#include <vector>

#include "change/drift.h"

namespace pintle::ctl {

std::string DriftsText(const change::Drifts& drifts);

// Returns a line that names the writers of something, or "" if they are not known.
std::string WritersText(const std::vector<std::string>& names);

}  // namespace pintle::ctl
