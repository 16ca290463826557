// SPDX-License-Identifier: Apache-2.0
#pragma once

// Keeps the contents of private files out of reports.  A file is private if not everyone may read it.
//
// Others may look at a terminal, copy its output into a ticket, or record the session.  So reports have only the
// lengths of a private file, and its lines only if a person asks for them.  Secrets in these lines stay masked.

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

// Returns whether not everyone may read a file with these permissions.
constexpr bool IsPrivate(std::int64_t permissions) { return (permissions & 04) == 0; }
bool IsPrivate(const ignition::File& file);

// Returns the paths of a config's files that not everyone may read.
std::set<std::string_view> PrivatePaths(const ignition::Config& config);

// Describes a difference of contents by their lengths alone; returns "" if they are equal.
std::string PrivateText(std::string_view from, std::string_view to);

// Does the same as DriftsOf() of drift.h, but lets the caller decide whether the lines of private files are left out.
Result<Drifts> DriftsOf(const Root& root, const CurrentConfig& config, std::vector<Finding> findings,
                        const Ignored& ignored, const std::string& root_words, PrivateLines private_lines);

}  // namespace pintle::change
