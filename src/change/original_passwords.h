// SPDX-License-Identifier: Apache-2.0
#pragma once

// Stores the hashes of the passwords that users had before they were in a config.  When a user is no longer in the
// config, the old password is put back.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/root.h"
#include "change/findings.h"
#include "change/format.h"
#include "ignition/config.h"
#include "plan/plan.h"
#include "plan/step.h"
#include "resource/password_hash.h"

namespace pintle::change {

// The file holds hashes, so it is readable by root alone, like /etc/shadow.
inline constexpr const char* kOriginalPasswords = format::kPasswords.path;

using OriginalPasswords = std::map<std::string, resource::PasswordHash::State>;

// Returns the stored passwords, or an error if the file exists and cannot be read or understood.
Result<OriginalPasswords> ReadOriginalPasswords(const Root& root);

// Returns whether the error means that the file itself is damaged.  After other errors, it may be readable later.
bool IsDamage(const Error& error);

// Returns the passwords to store once the machine has the new config.  Changes the steps for users that the new config
// no longer has, so that these users get their stored passwords back.
//
// If the file is damaged, these users are locked, which is safe.  The result then depends on the new config's users:
// - None of them is in the old config: the result replaces the damaged file.
// - All of them are in the old config: the result is nullopt, and the file stays as it is.
// - Only some of them are: the result is an error, because the passwords of the new users could not be stored.
Result<std::optional<OriginalPasswords>> GiveBackPasswords(const Root& root, const plan::ParsedConfig& from,
                                                           const plan::ParsedConfig& to,
                                                           std::vector<plan::Step>& steps);

// If the file is damaged, or cannot be read at the moment, adds a finding on each user of the config, because the
// user's original password is lost or not known.
void AddLostPasswords(const Root& root, const ignition::Config& config, std::vector<Finding>& findings);

// Returns the contents that replace a damaged file when a person accepts the loss.  With these contents, a user of the
// config is locked when no config has that user any more.
OriginalPasswords AcceptedLoss(const ignition::Config& config);

// Returns the users that a change locks because the file is damaged.
std::vector<std::string> UsersLockedBy(const Root& root, const plan::ParsedConfig& from, const plan::ParsedConfig& to);

}  // namespace pintle::change
