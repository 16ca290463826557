// SPDX-License-Identifier: Apache-2.0
#pragma once

// A user's password in /etc/shadow.
//
// Everyone who changes that file takes the same lock as lckpwdf(3), and so is this; the rest of the file stays as it is
// to the last byte.  No error names a hash.

#include <chrono>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "base/root.h"
#include "resource/password_hash.h"
#include "resource/resource.h"

namespace pintle::host {

// As long as lckpwdf(3) waits.
inline constexpr std::chrono::milliseconds kPasswordLockPatience = std::chrono::seconds(15);

// Nothing where /etc/shadow has no line for the user: then no password is taken.
Result<std::optional<resource::PasswordHash::State>> ObservePasswordHash(const Root& root, const std::string& user);

// Putting "absent" removes the line.  A user without a line gets one, unless the hash is a locked one.  A hash for a
// user that does not exist is kNotFound, and one that cannot stand in a line is kInvalid.
Result<> PutPasswordHash(const Root& root, const resource::Put<resource::PasswordHash>& put, const Clock& clock,
                         std::chrono::milliseconds patience = kPasswordLockPatience);

// Whether it is as it is wanted: the day of the last change counts only if one is wanted, and to have no line is as
// good as a locked hash.
bool Matches(const std::optional<resource::PasswordHash::State>& want,
             const std::optional<resource::PasswordHash::State>& have);

}  // namespace pintle::host
