// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds out why the deployment that was staged before this boot was not finalized at the shutdown.  If the
// machine runs another OS than the config wants, this failure is the likely cause.

#include <string>
#include <string_view>
#include <vector>

#include "change/findings.h"

namespace pintle::change {

// Reads the system journal of the boot before this one.  Returns "" if the deployment was finalized, if there was none,
// or if the journal cannot be read or has no message about a failure.
std::string FinalizeFailure();

// Returns the first of the finalizers' log lines that reports a failure, or "" if none does.
std::string FinalizeFailureIn(const std::vector<std::string>& lines);

// Adds the failure as the cause to the last finding on the OS, as the Machine Config Operator does.
void AddCause(std::string_view failure, std::vector<Finding>& findings);

}  // namespace pintle::change
