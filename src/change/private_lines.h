// SPDX-License-Identifier: Apache-2.0
#pragma once

// Contents of files that not everyone may read.
//
// A terminal is looked at by others, what is on it ends in a ticket, and sessions are recorded.  So of such a file the
// lengths are told, and its lines are shown only to who says that they are wanted.  Secrets in them stay masked.

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

// Whether not everyone may read a file with these permissions.
constexpr bool IsPrivate(std::int64_t permissions) { return (permissions & 04) == 0; }
bool IsPrivate(const ignition::File& file);

// The files of a config that not everyone is to read.
std::set<std::string_view> PrivatePaths(const ignition::Config& config);

// How contents differ that are not shown; nothing if they do not.
std::string PrivateText(std::string_view from, std::string_view to);

// The same as DriftsOf() beside it, which masks.
Result<Drifts> DriftsOf(const Root& root, const CurrentConfig& config, std::vector<Finding> findings,
                        const Ignored& ignored, const std::string& root_words, PrivateLines private_lines);

}  // namespace pintle::change
