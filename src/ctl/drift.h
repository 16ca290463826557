// SPDX-License-Identifier: Apache-2.0
#pragma once

// Describes the findings on a machine to people.

#include <string>
#include <vector>

#include "change/drift.h"

namespace pintle::ctl {

// Returns a text with all findings, or "" if there are none.
std::string VerifyReportText(const change::VerifyReport& report);

// Returns the lines in which a thing differs, with a header that explains them, or "" if there are none.
std::string DifferenceText(const change::ReportedThing& thing);

// Returns a line that names the MachineConfigs that set a thing, or "" if `names` is empty.
std::string WritersText(const std::vector<std::string>& names);

}  // namespace pintle::ctl
