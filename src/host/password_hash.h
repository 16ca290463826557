// SPDX-License-Identifier: Apache-2.0
#pragma once

// A user's password in /etc/shadow.
//
// The file is changed under the lock of lckpwdf(3), which all other programs that change it take; the rest of the
// file stays the same to the last byte.  No error contains a hash.

#include <chrono>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "base/root.h"
#include "resource/password_hash.h"
#include "resource/resource.h"

namespace pintle::host {

// The limit is that of lckpwdf(3).
inline constexpr std::chrono::milliseconds kPasswordLockPatience = std::chrono::seconds(15);

// Returns nullopt if /etc/shadow has no line for the user, so that the user has no password.
Result<std::optional<resource::PasswordHash::State>> ObservePasswordHash(const Root& root, const std::string& user);

// Putting nullopt removes the line.  A user without a line gets one, unless the hash is a locked one.  A hash for a
// user that does not exist is an error of the kind kNotFound, and one that would break the line is kInvalid.
Result<> PutPasswordHash(const Root& root, const resource::Put<resource::PasswordHash>& put, const Clock& clock,
                         std::chrono::milliseconds patience = kPasswordLockPatience);

// Returns whether the state is the wanted one.  The day of the last change is compared only if one is wanted, and a
// missing line equals a locked hash.
bool Matches(const std::optional<resource::PasswordHash::State>& want,
             const std::optional<resource::PasswordHash::State>& have);

}  // namespace pintle::host
