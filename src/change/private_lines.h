// SPDX-License-Identifier: Apache-2.0
#pragma once

// Keeps the contents of private files out of reports.  A file is private if not everyone may read it.
//
// Other people may see a terminal or a recording of it, and its output may be copied into a ticket.  So reports have
// only the lengths of the contents, unless a person asks for the lines.  Secrets in these lines stay masked.

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/root.h"
#include "change/drift.h"
#include "ignition/config.h"

namespace pintle::change {

enum class PrivateLines { kLeftOut, kShown };

// Returns whether a file with these permissions is private.
constexpr bool IsPrivate(std::int64_t permissions) { return (permissions & 04) == 0; }
// Returns whether a config makes this file private.
bool IsPrivate(const ignition::File& file);

// Returns the paths of a config's private files.
std::set<std::string_view> PrivatePaths(const ignition::Config& config);

// Describes a difference of contents by their lengths alone; returns "" if they are equal.
std::string PrivateText(std::string_view from, std::string_view to);

// Does the same as VerifyReportOf() of drift.h, but lets the caller decide whether the lines of private files are left
// out.
Result<VerifyReport> VerifyReportOf(const Root& root, const CurrentConfig& config, std::vector<Finding> findings,
                                    const Ignored& ignored, const std::string& root_words, PrivateLines private_lines);

}  // namespace pintle::change
