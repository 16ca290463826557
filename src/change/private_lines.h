// SPDX-License-Identifier: Apache-2.0
#pragma once

// Keeps the contents of private files, which not everyone may read, off the screen.
//
// Others look at a terminal, its output ends in tickets, and sessions are recorded.  So only the lengths of such a file
// are reported, and its lines are shown only if that is asked for.  Secrets in them stay masked.

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

// Describes a difference of contents without showing them; returns "" if they are equal.
std::string PrivateText(std::string_view from, std::string_view to);

// Does what DriftsOf() of drift.h does, except that the caller decides about private lines, which that one leaves out.
Result<Drifts> DriftsOf(const Root& root, const CurrentConfig& config, std::vector<Finding> findings,
                        const Ignored& ignored, const std::string& root_words, PrivateLines private_lines);

}  // namespace pintle::change
