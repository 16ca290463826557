// SPDX-License-Identifier: Apache-2.0
#pragma once

// Texts without what must not be shown: private keys, passwords, tokens, pull secrets.
//
// It cannot know every secret, so it rather hides too much: a value behind a name that speaks of a secret, all of a
// private key, anything that looks like a password's hash, and the password in a URL.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pintle::change {

inline constexpr std::string_view kMasked = "<masked>";

// The lines of one file, one after the other: what a line may show can depend on those before it.
class LineMasker {
 public:
  std::string Next(std::string_view line);

 private:
  bool in_key_ = false;
  std::optional<std::size_t> block_;  // How far the line above a secret block is indented.
};

// All of them, as many as there were.
std::vector<std::string> Masked(const std::vector<std::string_view>& lines);

// A line without the contents of the data URLs in it.
std::string WithoutDataUrls(std::string_view line);

// Whether a file is called after the secret that it holds, such as ipsec.secrets: then all of it is one.
bool HoldsASecret(std::string_view path);

// One line by itself.
std::string MaskedLine(std::string_view line);

// A text for a terminal: control characters, but for tabs, are shown as \xNN.
std::string Printable(std::string_view text);

}  // namespace pintle::change
