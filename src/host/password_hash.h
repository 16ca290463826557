// SPDX-License-Identifier: Apache-2.0
#pragma once

// A user's password in /etc/shadow.
//
// We change the file under the lock of lckpwdf(3), as all programs do.  Only the user's line changes.  No error
// contains a hash.

#include <chrono>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "base/root.h"
#include "resource/password_hash.h"
#include "resource/resource.h"

namespace pintle::host {

// The time to wait for the lock, which is also the limit of lckpwdf(3).
inline constexpr std::chrono::milliseconds kPasswordLockPatience = std::chrono::seconds(15);

// Returns nullopt if /etc/shadow is missing or has no line for the user.  Then the user has no password.
Result<std::optional<resource::PasswordHash::State>> ObservePasswordHash(const Root& root, const std::string& user);

// Putting nullopt removes the user's line.  A user without a line gets one, unless the wanted hash is kLocked.  A hash
// for a user that does not exist is an error of the kind kNotFound.  A hash that would break the line is kInvalid.  If
// the hash changes and `put.want` has no day of the last change, that day becomes today.  A missing /etc/shadow is made
// with the owner, mode and label of /etc/gshadow, or with the mode 0000.
Result<> PutPasswordHash(const Root& root, const resource::Put<resource::PasswordHash>& put, const Clock& clock,
                         std::chrono::milliseconds patience = kPasswordLockPatience);

// Returns whether `have` is as `want` demands.  The day of the last change is compared only if `want` has one.  A
// missing line equals the hash kLocked.
bool Matches(const std::optional<resource::PasswordHash::State>& want,
             const std::optional<resource::PasswordHash::State>& have);

}  // namespace pintle::host
