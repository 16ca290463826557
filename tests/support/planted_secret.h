// SPDX-License-Identifier: Apache-2.0
#pragma once

// All parsers of texts from outside, with everything that each of them reports about a text.
//
// A text may contain a secret, and a parser's reports reach logs, the bus and the cluster.  So a report may contain
// nothing of the text except names, which are public.

#include <span>
#include <string>
#include <string_view>

namespace pintle::planted {

// Looks like a password's hash, and no piece of it occurs anywhere else.
inline constexpr std::string_view kSecret = "$6$Qz7vPw9xKj$Hb3mNcLr8tYu2sDf/4";

struct Parser {
  std::string_view name;
  // A text that contains the secret.
  std::string sample;
  // The text is JSON, in which each value can be replaced by the secret.
  bool is_json;
  std::string (*told)(const std::string& text);
};

std::span<const Parser> Parsers();

// Returns a piece of the secret that is in a text, or "".  A few characters may occur by chance.
std::string_view PieceOfSecretIn(std::string_view told);

// Returns everything that a parser reports about a text, except for reports about names.
std::string ToldWithoutNames(const Parser& parser, const std::string& text);

}  // namespace pintle::planted
