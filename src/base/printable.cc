// SPDX-License-Identifier: Apache-2.0
#include "base/printable.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/ascii.h"
#include "base/first_characters.h"
#include "base/utf8.h"

namespace pintle {
namespace {

constexpr std::size_t kLongestCharacter = 4;

std::uint32_t CodeOf(std::string_view character) {
  const auto first = static_cast<unsigned char>(character.front());
  if (character.size() == 1) return first;
  std::uint32_t code = first & (0x7FU >> character.size());
  for (const char c : character.substr(1)) code = code << 6 | (static_cast<unsigned char>(c) & 0x3FU);
  return code;
}

// Line separators, the byte order mark and the characters that change the direction of text also count as control
// characters.
bool IsControl(std::uint32_t code) {
  const bool turns_direction = code == 0x061C || code == 0x200E || code == 0x200F ||
                               (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x2028 || code == 0x2029 || code == 0xFEFF ||
         turns_direction;
}

// Returns whether a character needs no escape.  `kept` has the control characters that are not escaped.
bool IsShown(std::string_view character, std::string_view kept) {
  return !IsControl(CodeOf(character)) || kept.find(character) != std::string_view::npos;
}

// Nearly all texts are plain ASCII and need no escapes.
bool IsPlain(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7F; });
}

std::string Escaped(std::string_view text, std::string_view kept) {
  if (IsPlain(text)) return std::string(text);
  std::string shown;
  while (!text.empty()) {
    const Utf8Character first = FirstUtf8Character(text);
    const std::string_view character = text.substr(0, first.length);
    if (first.is_valid && IsShown(character, kept)) {
      shown += character;
    } else {
      for (const char c : character) shown += fmt::format("\\x{:02X}", static_cast<unsigned char>(c));
    }
    text.remove_prefix(character.size());
  }
  return shown;
}

bool NeedsNoQuotes(std::string_view word) {
  constexpr std::string_view kHarmless = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:@%,=";
  return !word.empty() && word.find_first_not_of(kHarmless) == std::string_view::npos;
}

// A word fits if a terminal shows all of its characters and none is a tab.  The word may contain single quotes:
// SingleQuoted() closes the quotes before each of them and reopens them after it.
bool FitsSingleQuotes(std::string_view word) {
  return word.find('\t') == std::string_view::npos && Escaped(word, "") == word;
}

std::string SingleQuoted(std::string_view word) {
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

// Quotes a word as bash reads it between $' and '.  The result has no single quote inside, so that a shell that does
// not know $'...' gets a wrong word but runs no part of it.
std::string DollarQuoted(std::string_view word) {
  std::string quoted = "$'";
  while (!word.empty()) {
    const Utf8Character first = FirstUtf8Character(word);
    const std::string_view character = word.substr(0, first.length);
    if (character == "\\") {
      quoted += "\\\\";
    } else if (character != "'" && first.is_valid && IsShown(character, "")) {
      quoted += character;
    } else {
      // Octal escapes have exactly three digits; a shell might read the next character as one more digit of a \x
      // escape.
      for (const char c : character) quoted += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
    }
    word.remove_prefix(character.size());
  }
  return quoted + "'";
}

bool IsWebScheme(std::string_view text_before) {
  const std::string scheme =
      InLowerCase(text_before.substr(text_before.size() - std::min<std::size_t>(text_before.size(), 5)));
  return scheme.ends_with("http") || scheme.ends_with("https");
}

// Returns where the secret begins in the part of a URL before its '@', if there is a secret.  Git servers take a token
// as the user name; then the password is missing, empty, or GitHub's "x-oauth-basic".  The user name of an ssh:// URL
// is no token.
std::optional<std::size_t> SecretIn(std::string_view user_info, bool is_web) {
  const std::size_t colon = user_info.find(':');
  const bool has_password = colon != std::string_view::npos;
  const std::string_view password = has_password ? user_info.substr(colon + 1) : "";
  if (is_web && (password.empty() || password == "x-oauth-basic")) {
    // If a '?' or a '#' comes first, the '@' is in the query or the fragment, and the URL has no user.
    const bool has_user = !user_info.empty() && user_info.find_first_of("?#") == std::string_view::npos;
    return has_user ? std::optional<std::size_t>(0) : std::nullopt;
  }
  return has_password ? std::optional<std::size_t>(colon + 1) : std::nullopt;
}

}  // namespace

std::string Printable(std::string_view text) { return Escaped(text, "\t"); }

std::string PrintableLines(std::string_view text) { return Escaped(text, "\t\n"); }

std::string ShellQuoted(std::string_view word) {
  if (NeedsNoQuotes(word)) return std::string(word);
  return FitsSingleQuotes(word) ? SingleQuoted(word) : DollarQuoted(word);
}

std::string ShellOperand(std::string_view word) { return (word.starts_with('-') ? "-- " : "") + ShellQuoted(word); }

std::string Shortened(std::string text, std::size_t max_bytes) {
  if (text.size() > max_bytes) {
    std::size_t end = max_bytes;
    // The cut may fall inside a character, which is at most four bytes long: then up to three more bytes are cut.
    while (end > 0 && max_bytes - end < kLongestCharacter - 1 &&
           (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) {
      --end;
    }
    const auto left_out = std::count_if(text.begin() + static_cast<std::ptrdiff_t>(end), text.end(),
                                        [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
    text.resize(end);
    text += fmt::format("... ({} more characters)", left_out);
  }
  return IsUtf8(text) ? text : FirstCharacters(text, text.size());
}

std::string WithoutUrlPasswords(std::string_view text, std::string_view instead) {
  std::string without;
  std::size_t copied = 0;
  for (std::size_t at = text.find("://"); at != std::string_view::npos; at = text.find("://", at + 3)) {
    const std::size_t end = std::min(text.find_first_of("/ \t\r\n\"'", at + 3), text.size());
    const std::string_view authority = text.substr(at + 3, end - at - 3);
    const std::size_t host = authority.rfind('@');
    if (host == std::string_view::npos) continue;
    const auto secret = SecretIn(authority.substr(0, host), IsWebScheme(text.substr(0, at)));
    if (!secret) continue;
    without += text.substr(copied, at + 3 + *secret - copied);
    without += instead;
    copied = at + 3 + host;
  }
  without += text.substr(copied);
  return without;
}

}  // namespace pintle
