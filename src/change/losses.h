// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides which of people's edits a change would overwrite, and which things it leaves alone.

#include <functional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "change/findings.h"
#include "change/ignored.h"
#include "host/host.h"
#include "plan/plan.h"

namespace pintle::change {

// The names of things, as in Finding::about.
using Things = std::set<std::string, std::less<>>;

// Returns the name of the thing that the step puts, as in Finding::about, or "" for a step for the links of units.
std::string NameOf(const plan::Step& step);

// Returns the ignored things on which both configs agree.  A change between the configs does not touch these things.
Result<Things> LeftAlone(const Ignored& ignored, const plan::ParsedConfig& from, const plan::ParsedConfig& to);

// Returns the things among the findings on which the two configs do not agree.
Result<Things> ConfiguredDifferently(std::span<const Finding> findings, const plan::ParsedConfig& from,
                                     const plan::ParsedConfig& to);

// Returns the users on whom both configs agree and whose keys cannot be read, for example because a user has replaced
// .ssh by a link.  A change between the configs does not touch these keys, and need not wait for someone to correct
// them.
Things UnreadableKeys(const Root& root, const plan::ParsedConfig& from, const plan::ParsedConfig& to);

// Returns the findings on things that a change would overwrite.  Three kinds of things are excluded: those in
// `left_alone`; those that are already as the new config wants them, because a person keeps an edit by adding it to the
// config; and keys in a folder of another user, which the change only moves aside.
Result<std::vector<Finding>> FindingsThatWouldBeLost(const host::Host& host, std::vector<Finding> findings,
                                                     const plan::ParsedConfig& to, const Things& left_alone);

}  // namespace pintle::change
