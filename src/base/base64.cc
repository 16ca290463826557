// SPDX-License-Identifier: Apache-2.0
#include "base/base64.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace pintle {
namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t kNotInAlphabet = 0xff;

constexpr auto kValues = [] {
  std::array<std::uint8_t, 256> values{};
  values.fill(kNotInAlphabet);
  for (std::size_t i = 0; i < kAlphabet.size(); ++i) {
    values[static_cast<unsigned char>(kAlphabet[i])] = static_cast<std::uint8_t>(i);
  }
  return values;
}();

std::uint8_t ValueOf(char c) { return kValues[static_cast<unsigned char>(c)]; }
bool IsLineBreak(char c) { return c == '\n' || c == '\r'; }

// Calls `take` for each group of four letters, with the bits of the group and the number of bytes in them.
// Returns the offset that Go's encoding/base64 reports for an invalid text, or nullopt if the whole text is valid.
template <typename Take>
std::optional<std::size_t> WalkGroups(std::string_view text, Take&& take) {
  std::size_t at = 0;
  const auto skip_line_breaks = [&] {
    while (at < text.size() && IsLineBreak(text[at])) ++at;
  };
  for (;;) {
    std::uint32_t bits = 0;
    std::size_t letters = 0;
    while (letters < 4) {
      if (at == text.size()) {
        if (letters == 0) return std::nullopt;
        return at - letters;
      }
      const char c = text[at++];
      if (const std::uint8_t value = ValueOf(c); value != kNotInAlphabet) {
        bits = bits << 6 | value;
        ++letters;
      } else if (c == '=') {
        if (letters < 2) return at - 1;
        break;
      } else if (!IsLineBreak(c)) {
        return at - 1;
      }
    }
    if (letters == 4) {
      take(bits, 3);
      continue;
    }
    // The group ends in padding, and nothing may follow it.
    if (letters == 2) {
      skip_line_breaks();
      if (at == text.size()) return text.size();
      if (text[at] != '=') return at - 1;
      ++at;
    }
    skip_line_breaks();
    if (at < text.size()) return at;
    take(bits << 6 * (4 - letters), letters - 1);
    return std::nullopt;
  }
}

}  // namespace

std::optional<std::size_t> FindBase64Problem(std::string_view text) {
  return WalkGroups(text, [](std::uint32_t, std::size_t) {});
}

std::optional<std::string> DecodeBase64(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  const auto problem = WalkGroups(text, [&](std::uint32_t bits, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) bytes.push_back(static_cast<char>(bits >> (16 - 8 * i) & 0xff));
  });
  if (problem) return std::nullopt;
  return bytes;
}

std::string EncodeBase64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t bits = 0;
    for (std::size_t j = 0; j < 3; ++j) {
      bits = bits << 8 | (j < count ? static_cast<unsigned char>(bytes[i + j]) : 0U);
    }
    for (std::size_t j = 0; j < 4; ++j) text += j <= count ? kAlphabet[bits >> (18 - 6 * j) & 0x3f] : '=';
  }
  return text;
}

}  // namespace pintle
