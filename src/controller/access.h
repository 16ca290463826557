// SPDX-License-Identifier: Apache-2.0
#pragma once

// Who may have a config: the bearer tokens of new machines.
//
// A config has secrets in it, and whoever can reach the server can ask for it.  A token says for which pool it is and
// until when, and is signed with a key that the server has; a new machine has it from its pointer config, which tells
// Ignition to send it along.  There may be several keys: the first one signs, all are good for checking, so that keys
// can be changed while machines are on their way.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace pintle::controller {

enum class AccessMode {
  kOpen,      // Everyone is served, as by the Machine Config Operator.
  kGrace,     // Everyone is served, and who has no token is counted.
  kRequired,  // Who has no token is not served.
};

// "open", "grace" or "required".
Result<AccessMode> ParseAccessMode(std::string_view name);

struct Access {
  AccessMode mode = AccessMode::kOpen;
  std::vector<std::string> keys = {};
};

// Keys are a line each, of 32 characters or more.
Result<std::vector<std::string>> ParseKeys(std::string_view text);
Result<std::vector<std::string>> ReadKeys(const std::string& file);

std::string MakeToken(const std::string& key, const std::string& pool, WallTime expires);

// Why this token does not open this pool; nothing: it does.
enum class TokenProblem { kNone, kMissing, kForged, kOtherPool, kExpired };
TokenProblem CheckToken(const std::vector<std::string>& keys, std::string_view token, std::string_view pool,
                        WallTime now);

// "the token has expired"
std::string_view ToText(TokenProblem problem);

// What the value of an Authorization header carries; empty: no token.
std::string_view TokenOf(std::optional<std::string_view> authorization);

}  // namespace pintle::controller
