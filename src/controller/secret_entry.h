// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads an entry of a Secret that is followed.

#include <string>

#include "api/secret.h"
#include "base/result.h"
#include "controller/followed_object.h"
#include "controller/generated_kinds.h"

namespace pintle::controller {

// Returns the decoded entry, which is not empty.  An error names the Secret and the entry, and has none of the
// contents.
Result<std::string> SecretEntry(const FollowedObject<api::Secret>& secret, const std::string& key);

}  // namespace pintle::controller
