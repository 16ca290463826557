// SPDX-License-Identifier: Apache-2.0
#pragma once

// The hash that the contents of a resource must have: "sha256-..." or "sha512-...".

#include <string>
#include <string_view>

#include "base/result.h"

namespace pintle::ignition {

// Returns in Ignition's words why this is not a valid hash, or "" if it is one.  Like Ignition, this function only
// counts the digits.
std::string_view HashProblem(std::string_view hash, bool knows_sha256);

// Returns an error if `bytes` do not have this hash.
Result<> VerifyHash(std::string_view bytes, std::string_view hash);

}  // namespace pintle::ignition
