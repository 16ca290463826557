// SPDX-License-Identifier: Apache-2.0
#pragma once

// The passwords that users had before a config took them, so that they come back when no config has the users any more.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/root.h"
#include "change/findings.h"
#include "ignition/config.h"
#include "plan/plan.h"
#include "plan/step.h"
#include "resource/password_hash.h"

namespace pintle::change {

// They are hashes, so that the file is root's alone, as /etc/shadow is.
inline constexpr const char* kOriginalPasswords = "/etc/machine-config-daemon/pintle-passwords.json";

using OriginalPasswords = std::map<std::string, resource::PasswordHash::State>;

// Those that are kept; an error for a file that is there and cannot be read or understood.
Result<OriginalPasswords> ReadOriginalPasswords(const Root& root);

// Whether the file itself is broken, and will be tomorrow; a disk that fails may give it yet.
bool IsDamage(const Error& error);

// Those to keep once the machine has the new config.  The steps for users that it no longer has are changed, so that
// they give back what was kept.  Where the file is damaged, these users are locked, which is safe; the file stays as it
// is as long as the new config has users whose passwords were in it, and nothing is returned.
Result<std::optional<OriginalPasswords>> GiveBackPasswords(const Root& root, const plan::ParsedConfig& from,
                                                           const plan::ParsedConfig& to,
                                                           std::vector<plan::Step>& steps);

// Findings on the users of a config whose original passwords are not known any more, since the file is damaged.
void AddLostPasswords(const Root& root, const ignition::Config& config, std::vector<Finding>& findings);

// What a damaged file is replaced with when a person accepts that: all users of the config are locked when no config
// has them any more.
OriginalPasswords AcceptedLoss(const ignition::Config& config);

// The users that a change locks because the file is damaged.
std::vector<std::string> UsersLockedBy(const Root& root, const plan::ParsedConfig& from, const plan::ParsedConfig& to);

}  // namespace pintle::change
