// SPDX-License-Identifier: Apache-2.0
#include "api/go_quote.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace pintle::api {
namespace {

struct Rune {
  char32_t value = 0;
  std::size_t bytes = 0;  // 0 if the text does not begin with valid UTF-8.
};

Rune FirstRune(std::string_view text) {
  const auto byte = [&](std::size_t at) { return static_cast<std::uint8_t>(text[at]); };
  if (byte(0) < 0x80) return {byte(0), 1};
  const std::size_t length = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : byte(0) >= 0xc2 ? 2 : 0;
  if (length == 0 || byte(0) > 0xf4 || text.size() < length) return {};
  char32_t value = byte(0) & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    value = value << 6 | (byte(i) & 0x3f);
  }
  constexpr std::array<char32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = value >= 0xd800 && value <= 0xdfff;
  if (value < kLeast[length] || value > 0x10ffff || is_surrogate) return {};
  return {value, length};
}

// Unprintable are the characters that Unicode classifies as control, format, space or private use, and the code points
// that are no characters at all.  (Unassigned code points are printable here, since they differ from one release of Go
// to the next.)
bool IsPrintable(char32_t rune) {
  constexpr auto kUnprintable = std::to_array<std::pair<char32_t, char32_t>>({
      {0x00, 0x1f},        {0x7f, 0xa0},       {0xad, 0xad},       {0x600, 0x605},     {0x61c, 0x61c},
      {0x6dd, 0x6dd},      {0x70f, 0x70f},     {0x890, 0x891},     {0x8e2, 0x8e2},     {0x1680, 0x1680},
      {0x180e, 0x180e},    {0x2000, 0x200f},   {0x2028, 0x202f},   {0x205f, 0x206f},   {0x3000, 0x3000},
      {0xe000, 0xf8ff},    {0xfdd0, 0xfdef},   {0xfeff, 0xfeff},   {0xfff0, 0xfffb},   {0x110bd, 0x110bd},
      {0x110cd, 0x110cd},  {0x13430, 0x1343f}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0x40000, 0xe00ff},
      {0xe01f0, 0x10ffff},
  });
  if ((rune & 0xfffe) == 0xfffe) return false;
  return std::none_of(kUnprintable.begin(), kUnprintable.end(),
                      [&](const auto& range) { return rune >= range.first && rune <= range.second; });
}

std::string Escaped(char32_t rune) {
  switch (rune) {
    case '"':
      return "\\\"";
    case '\\':
      return "\\\\";
    case '\a':
      return "\\a";
    case '\b':
      return "\\b";
    case '\f':
      return "\\f";
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    case '\v':
      return "\\v";
    default:
      break;
  }
  const auto value = static_cast<std::uint32_t>(rune);
  if (value < 0x80) return fmt::format("\\x{:02x}", value);
  if (value < 0x10000) return fmt::format("\\u{:04x}", value);
  return fmt::format("\\U{:08x}", value);
}

}  // namespace

std::string GoQuoted(std::string_view text) {
  std::string quoted = "\"";
  while (!text.empty()) {
    const Rune rune = FirstRune(text);
    const std::size_t bytes = std::max<std::size_t>(rune.bytes, 1);
    if (rune.bytes == 0) {
      quoted += fmt::format("\\x{:02x}", static_cast<std::uint8_t>(text[0]));
    } else if (rune.value == '"' || rune.value == '\\' || !IsPrintable(rune.value)) {
      quoted += Escaped(rune.value);
    } else {
      quoted += text.substr(0, bytes);
    }
    text.remove_prefix(bytes);
  }
  return quoted + "\"";
}

}  // namespace pintle::api
