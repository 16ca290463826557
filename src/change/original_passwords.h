// SPDX-License-Identifier: Apache-2.0
#pragma once

// The passwords that users had before a config took them, so that they come back when no config has the users any more.

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/root.h"
#include "plan/plan.h"
#include "plan/step.h"
#include "resource/password_hash.h"

namespace pintle::change {

// They are hashes, so that the file is root's alone, as /etc/shadow is.
inline constexpr const char* kOriginalPasswords = "/etc/machine-config-daemon/pintle-passwords.json";

using OriginalPasswords = std::map<std::string, resource::PasswordHash::State>;

// Those to keep once the machine has the new config.  The steps for users that it no longer has are changed, so that
// they give back what was kept.
Result<OriginalPasswords> GiveBackPasswords(const Root& root, const plan::ParsedConfig& from,
                                            const plan::ParsedConfig& to, std::vector<plan::Step>& steps);

}  // namespace pintle::change
