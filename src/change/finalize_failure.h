// SPDX-License-Identifier: Apache-2.0
#pragma once

// Why the deployment that was staged before this boot was not made at the shutdown: the likely cause of an OS that is
// not the one that the config says.

#include <string>
#include <string_view>
#include <vector>

#include "change/findings.h"

namespace pintle::change {

// By the journal of this machine's boot before this one; "" if it was made, if there was none, or if it is not known.
std::string FinalizeFailure();

// The first of the lines of those who make the staged deployment at shutdown that tells of a failure; "" if none does.
std::string FinalizeFailureIn(const std::vector<std::string>& said);

// Names the failure behind the last of the findings on the OS, as the Machine Config Operator does.
void AddCause(std::string_view failure, std::vector<Finding>& findings);

}  // namespace pintle::change
