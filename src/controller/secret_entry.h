// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads an entry of a Secret that is followed.

#include <string>

#include "api/secret.h"
#include "base/result.h"
#include "controller/followed_object.h"
#include "controller/generated_kinds.h"

namespace pintle::controller {

// Returns the decoded entry.  An empty entry is an error.  Errors name the Secret and the entry, and never contain
// anything of the contents.
Result<std::string> SecretEntry(const FollowedObject<api::Secret>& secret, const std::string& key);

}  // namespace pintle::controller
