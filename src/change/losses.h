// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a change would overwrite of what someone has done to the machine, and what it leaves alone.

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

// Things by the names that findings have for them.
using Things = std::set<std::string, std::less<>>;

// What findings on a step are about.
std::string NameOf(const plan::Step& step);

// What is ignored and the same in both configs, which a change between them does not touch.
Result<Things> LeftAlone(const Ignored& ignored, const plan::ParsedConfig& from, const plan::ParsedConfig& to);

// Returns the things with findings of which the new config does not say the same as the old one.
Result<Things> SaidOtherwise(std::span<const Finding> findings, const plan::ParsedConfig& from,
                             const plan::ParsedConfig& to);

// Users of whom both configs say the same, and whose keys cannot be looked at, such as where a user has put a link in
// the place of .ssh: a change between them does not touch these keys, and need not wait for someone to mend them.
Things OutOfReach(const Root& root, const plan::ParsedConfig& from, const plan::ParsedConfig& to);

// Of the findings those on what a change would overwrite: neither what it leaves alone, nor what is just as the new
// config wants it, which is how a person keeps it; nor keys in a folder that is set aside as it is.
Result<std::vector<Finding>> FindingsThatWouldBeLost(const host::Host& host, std::vector<Finding> findings,
                                                     const plan::ParsedConfig& to, const Things& left_alone);

}  // namespace pintle::change
