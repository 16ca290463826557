// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides what a change would overwrite of people's edits, and what it leaves alone.

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

// Things under the names that findings have for them.
using Things = std::set<std::string, std::less<>>;

// Returns the name that findings on this step have.
std::string NameOf(const plan::Step& step);

// Returns the ignored things on which both configs agree: a change between them does not touch these.
Result<Things> LeftAlone(const Ignored& ignored, const plan::ParsedConfig& from, const plan::ParsedConfig& to);

// Returns the things among the findings on which the two configs do not agree.
Result<Things> SaidOtherwise(std::span<const Finding> findings, const plan::ParsedConfig& from,
                             const plan::ParsedConfig& to);

// Returns the users on whom both configs agree and whose keys cannot be read, for example because a user has replaced
// .ssh by a link.  A change between the configs does not touch these keys, and need not wait for someone to mend them.
Things OutOfReach(const Root& root, const plan::ParsedConfig& from, const plan::ParsedConfig& to);

// Returns the findings on things that a change would overwrite.  That excludes things that it leaves alone; things that
// are just as the new config wants them, which is how a person keeps an edit; and keys in a folder that is set aside as
// it is.
Result<std::vector<Finding>> FindingsThatWouldBeLost(const host::Host& host, std::vector<Finding> findings,
                                                     const plan::ParsedConfig& to, const Things& left_alone);

}  // namespace pintle::change
