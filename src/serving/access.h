// SPDX-License-Identifier: Apache-2.0
#pragma once

// Checks the bearer tokens with which new machines fetch a config.
//
// A config contains secrets, and any client that reaches the server can request it.  A token names its pool and its
// expiry, and is signed with a key of the server.  A new machine has the token in its pointer config, so Ignition sends
// the token with its request.  There may be several keys, so that keys can be rotated while machines are being
// installed: a server accepts the signatures of all its keys, and `pintle-controller token` signs with the first key.
// A new key is put first only when all servers have it.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace pintle::serving {

enum class AccessMode {
  kOpen,      // Everyone is served, as by the Machine Config Operator.
  kGrace,     // Everyone is served, and requests without a valid token are counted and logged.
  kRequired,  // Requests without a valid token are refused.
};

// Parses "open", "grace" or "required".
Result<AccessMode> ParseAccessMode(std::string_view name);

struct Access {
  AccessMode mode = AccessMode::kOpen;
  std::vector<std::string> keys = {};
};

// Parses a text with one key a line.  Each key must have 32 characters or more.
Result<std::vector<std::string>> ParseKeys(std::string_view text);
// Reads a file with such a text.
Result<std::vector<std::string>> ReadKeys(const std::string& file);
// Like ReadKeys(), but refuses a file that everyone may read, because anyone who can read the keys can make tokens.
Result<std::vector<std::string>> ReadPrivateKeys(const std::string& file);

// Returns a token that gives new machines access to the config of a pool.
std::string MakeToken(const std::string& key, const std::string& pool, WallTime expires);

// The reason why a token does not give access to a pool.  A malformed token counts as forged.
enum class TokenProblem { kNone, kMissing, kForged, kOtherPool, kExpired };
// Returns kNone if the token gives access to the pool now.
TokenProblem CheckToken(const std::vector<std::string>& keys, std::string_view token, std::string_view pool,
                        WallTime now);

// Returns the time at which a token's access to a pool ends, or nullopt if the token never gave access.
std::optional<WallTime> ExpiryOf(const std::vector<std::string>& keys, std::string_view token, std::string_view pool);

// Returns a text such as "the token has expired".
std::string_view ToText(TokenProblem problem);

}  // namespace pintle::serving
