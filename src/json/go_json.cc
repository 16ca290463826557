// SPDX-License-Identifier: Apache-2.0
#include "json/go_json.h"

#include <fmt/core.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace pintle::json {
namespace {

// The number of bytes of JSON that each byte of a text becomes.  Control characters take six bytes, and so do
// the characters of HTML's markup, which Go escapes as in \u003c.  Some characters have an escape of two bytes.
constexpr auto kLengths = [] {
  std::array<std::uint8_t, 256> lengths{};
  for (std::size_t i = 0; i < lengths.size(); ++i) lengths[i] = i < 0x20 ? 6 : 1;
  for (const char c : {'<', '>', '&'}) lengths[static_cast<unsigned char>(c)] = 6;
  for (const char c : {'"', '\\', '\b', '\f', '\n', '\r', '\t'}) lengths[static_cast<unsigned char>(c)] = 2;
  return lengths;
}();

// Recognises U+2028 and U+2029, which Go also escapes.  They take three bytes in UTF-8, and six when they are escaped.
bool IsLineBreakOfJavaScript(std::string_view text, std::size_t at) {
  const std::string_view character = text.substr(at, 3);
  return character == "\xE2\x80\xA8" || character == "\xE2\x80\xA9";
}

// Returns the length of a text as a JSON string.  The text must be UTF-8.
std::size_t LengthOf(std::string_view text) {
  std::size_t length = 2;  // The quotes.
  for (const char c : text) length += kLengths[static_cast<unsigned char>(c)];
  for (std::size_t at = text.find('\xE2'); at != std::string_view::npos; at = text.find('\xE2', at + 1)) {
    if (IsLineBreakOfJavaScript(text, at)) length += 3;
  }
  return length;
}

}  // namespace

std::string GoJson(const Value& value) {
  // The characters to escape occur only inside JSON strings, so no parser is needed to find them.
  std::string escaped;
  const std::string text = ToText(value);
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '<' || c == '>' || c == '&') {
      escaped += fmt::format("\\u{:04x}", c);
    } else if (IsLineBreakOfJavaScript(text, at)) {
      escaped += fmt::format("\\u202{:x}", static_cast<unsigned char>(text[at + 2]) & 0xF);
      at += 2;
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::size_t GoJsonLength(const Value& value) {
  if (value.is_string()) return LengthOf(value.text());
  if (!value.is_structured()) return ToText(value).size();
  std::size_t length = 2 + (value.empty() ? 0 : value.size() - 1);  // The brackets and the commas.
  if (value.is_array()) {
    for (const Value& element : value) length += GoJsonLength(element);
  } else {
    for (const auto& [key, member] : value.members()) {
      length += LengthOf(key) + 1 + GoJsonLength(member);  // The 1 is the colon.
    }
  }
  return length;
}

}  // namespace pintle::json
