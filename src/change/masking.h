// SPDX-License-Identifier: Apache-2.0
#pragma once

// Masks secrets in texts: private keys, passwords, tokens, pull secrets.
//
// Not every secret can be recognized for sure, so these functions rather mask too much: each value whose name suggests
// a secret, all of a private key, all that looks like a password's hash, and the password in a URL.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pintle::change {

inline constexpr std::string_view kMasked = "<masked>";

// Masks the lines of one file, one after the other.  How a line is masked can depend on the lines before it.
class LineMasker {
 public:
  // Returns the next line of the file, masked.
  std::string Next(std::string_view line);

 private:
  bool in_key_ = false;
  // The beginning of a mark, such as "-----BEGIN RSA", if the last line ends in the middle of the mark.
  std::string cut_mark_;
  std::optional<std::size_t> block_indent_;  // The indentation of the line above a block with a secret.
  std::optional<std::size_t> open_column_;   // The column of the name of a secret that may go on in the next line.
};

// Masks all lines of a text.
std::vector<std::string> Masked(const std::vector<std::string_view>& lines);

// Returns the line with the contents of its data URLs masked.
std::string WithoutDataUrls(std::string_view line);

// Returns whether the name of a file, such as ipsec.secrets, suggests that all of its contents are secret.
bool HoldsASecret(std::string_view path);

// Masks one line by itself.
std::string MaskedLine(std::string_view line);

}  // namespace pintle::change
