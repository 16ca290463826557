// SPDX-License-Identifier: Apache-2.0
#pragma once

// All parsers of texts from outside, with all that each of them says of a text.
//
// A text may have a secret in it, and what a parser says of it reaches logs, the bus and the cluster.  So nothing of
// the text may be in it, but for names, which are there to be seen.

#include <span>
#include <string>
#include <string_view>

namespace pintle::planted {

// It looks like a password's hash, and no piece of it stands anywhere else.
inline constexpr std::string_view kSecret = "$6$Qz7vPw9xKj$Hb3mNcLr8tYu2sDf/4";

struct Parser {
  std::string_view name;
  // A text with the secret in it.
  std::string sample;
  // Whether it is JSON, in which each value can be replaced by the secret.
  bool is_json;
  std::string (*told)(const std::string& text);
};

std::span<const Parser> Parsers();

// A piece of the secret that is in a text, or nothing.  A few characters may be there by chance.
std::string_view PieceOfSecretIn(std::string_view told);

// All that a parser says of a text, but for what it says about names.
std::string ToldWithoutNames(const Parser& parser, const std::string& text);

}  // namespace pintle::planted
