// SPDX-License-Identifier: Apache-2.0
#pragma once

// Proof that a text comes from someone who has the key.

#include <string>
#include <string_view>

namespace pintle::net {

// HMAC with SHA-256: 32 bytes.
std::string HmacSha256(std::string_view key, std::string_view text);

// Whether two of the same length are equal; how long that takes does not tell where they differ.
bool SameSecret(std::string_view a, std::string_view b);

}  // namespace pintle::net
