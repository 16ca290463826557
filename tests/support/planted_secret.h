// SPDX-License-Identifier: Apache-2.0
#pragma once

// All parsers of texts from outside, for tests of the messages that they return.
//
// A text may contain a secret, and a parser's messages reach logs, the bus and the cluster.  So a message may contain
// no part of the text except names, which are public.

#include <span>
#include <string>
#include <string_view>

namespace pintle::planted {

// The secret looks like a password's hash, and no piece of it occurs anywhere else.
inline constexpr std::string_view kSecret = "$6$Qz7vPw9xKj$Hb3mNcLr8tYu2sDf/4";

struct Parser {
  std::string_view name;
  // A text that contains the secret.
  std::string sample;
  // If this is set, the sample is JSON, in which the secret can replace each value.
  bool is_json;
  // Returns all messages of the parser about a text.
  std::string (*messages)(const std::string& text);
};

std::span<const Parser> Parsers();

// Returns a piece of the secret that is in the messages, or "".  Pieces of a few characters may occur by chance, so
// they do not count.
std::string_view PieceOfSecretIn(std::string_view messages);

// Returns all messages of a parser about a text, except for messages about names.
std::string MessagesWithoutNames(const Parser& parser, const std::string& text);

}  // namespace pintle::planted
