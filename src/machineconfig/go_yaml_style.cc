// SPDX-License-Identifier: Apache-2.0
#include "machineconfig/go_yaml_style.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <variant>

#include "base/ascii.h"
#include "machineconfig/go_yaml_character.h"
#include "machineconfig/yaml_scalar.h"

namespace pintle::machineconfig {
namespace {

constexpr std::uint64_t Repeated(unsigned char byte) { return 0x0101010101010101U * byte; }

void SkipDigitsAndUnderscores(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of("0123456789_"), text.size()));
}

// In YAML 1.1, 12:30 is a number to base 60, and is quoted for readers that still treat it so.
bool IsBaseSixty(std::string_view text) {
  if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
  if (text.empty() || !IsDigit(text[0])) return false;
  SkipDigitsAndUnderscores(text);
  if (!text.starts_with(':')) return false;
  while (text.starts_with(':')) {
    text.remove_prefix(1);
    const std::size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
    const bool is_minute = end == 1 || (end == 2 && text[0] <= '5');
    if (!is_minute) return false;
    text.remove_prefix(end);
  }
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    SkipDigitsAndUnderscores(text);
  }
  return text.empty();
}

// Returns whether the text without quotes is read back as the same text.
bool MeansItself(std::string_view text) { return std::holds_alternative<Text>(MeaningOf(text)) && !IsBaseSixty(text); }

bool IsIndicatorAtStart(char c) { return std::string_view("#,[]{}&*!|>'\"%@`").find(c) != std::string_view::npos; }

bool LooksLikeMarker(std::string_view text) { return text.starts_with("---") || text.starts_with("..."); }

// `text` must be visible ASCII.
bool VisibleAsciiMayBePlain(std::string_view text) {
  const bool ends_as_key = text.back() == ':';
  const bool is_bare_indicator = text == "?" || text == "-";
  return !LooksLikeMarker(text) && !IsIndicatorAtStart(text[0]) && !ends_as_key && !is_bare_indicator;
}

}  // namespace

// Checks eight bytes at a time.
bool IsVisibleAscii(std::string_view text) {
  std::uint64_t not_visible = 0;
  std::size_t at = 0;
  for (; at + sizeof not_visible <= text.size(); at += sizeof not_visible) {
    std::uint64_t bytes;
    std::memcpy(&bytes, text.data() + at, sizeof bytes);
    const std::uint64_t below = (bytes - Repeated(0x21)) & ~bytes;
    const std::uint64_t above = (bytes + Repeated(0x01)) | bytes;
    not_visible |= below | above;
  }
  if ((not_visible & Repeated(0x80)) != 0) return false;
  return std::all_of(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(),
                     [](char c) { return c > ' ' && c < 0x7F; });
}

AllowedStyles AllowedStylesFor(std::string_view text, bool is_visible_ascii) {
  AllowedStyles styles;
  if (text.empty()) {
    styles.literal = false;
    return styles;
  }
  if (is_visible_ascii) {
    styles.has_blanks = false;
    styles.plain = VisibleAsciiMayBePlain(text);
    return styles;
  }
  bool has_indicator = LooksLikeMarker(text);
  bool has_unprintable = false;
  bool has_space_after_break = false;
  bool has_space_before_break = false;
  char32_t previous = 0;
  for (std::size_t at = 0; at < text.size();) {
    const Character c = CharacterAt(text, at);
    const std::size_t next = at + c.size;
    const bool blank_follows = next >= text.size() || text[next] == ' ' || text[next] == '\t';
    if (at == 0) {
      has_indicator = has_indicator || (c.code < 0x80 && IsIndicatorAtStart(text[0]));
      has_indicator = has_indicator || ((c.code == '?' || c.code == '-') && blank_follows);
    }
    const bool blank_precedes = at == 0 || IsBlank(previous) || IsBreak(previous) || previous == 0;
    has_indicator = has_indicator || (c.code == ':' && blank_follows) || (c.code == '#' && blank_precedes);
    has_unprintable = has_unprintable || !IsPrintable(c.code);
    has_space_after_break = has_space_after_break || (c.code == ' ' && IsBreak(previous));
    if (IsBreak(c.code)) {
      styles.has_breaks = true;
      has_space_before_break = has_space_before_break || (at > 0 && previous == ' ');
    }
    previous = c.code;
    at = next;
  }
  const bool begins_or_ends_blank = text.front() == ' ' || text.back() == ' ';
  const bool needs_escapes = has_space_before_break || has_unprintable;
  styles.plain = !has_indicator && !begins_or_ends_blank && !styles.has_breaks && !needs_escapes;
  styles.single_quoted = !has_space_after_break && !needs_escapes;
  styles.literal = text.back() != ' ' && !needs_escapes;
  return styles;
}

Style StyleOf(std::string_view text, const AllowedStyles& styles, TextPlace place) {
  if (text.empty()) return Style::kDoubleQuoted;
  if (styles.has_blanks && text.find('\n') != std::string_view::npos) {
    return styles.literal && place != TextPlace::kSimpleKey ? Style::kLiteral : Style::kDoubleQuoted;
  }
  if (!MeansItself(text)) return Style::kDoubleQuoted;
  if (styles.plain) return Style::kPlain;
  return styles.single_quoted ? Style::kSingleQuoted : Style::kDoubleQuoted;
}

}  // namespace pintle::machineconfig
