// SPDX-License-Identifier: Apache-2.0
#pragma once

// Authenticates texts by a shared key.

#include <string>
#include <string_view>

namespace pintle::net {

// Returns the 32 bytes of HMAC-SHA-256.
std::string HmacSha256(std::string_view key, std::string_view text);

// Compares two secrets.  For secrets of the same length, the time does not depend on where they differ.
bool SameSecret(std::string_view a, std::string_view b);

}  // namespace pintle::net
