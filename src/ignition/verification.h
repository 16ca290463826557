// SPDX-License-Identifier: Apache-2.0
#pragma once

// The hash that the contents of a resource must have: "sha256-..." or "sha512-...".

#include <string>
#include <string_view>

#include "base/result.h"

namespace pintle::ignition {

// Why this is no hash, in Ignition's words; empty when it is one.  Like Ignition, it counts the digits only.
std::string_view HashProblem(std::string_view hash, bool knows_sha256);

// Compares the digest of `bytes` with the one that was given.
Result<> VerifyHash(std::string_view bytes, std::string_view hash);

}  // namespace pintle::ignition
