// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <array>
#include <charconv>
#include <cstddef>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "base/utf8.h"
#include "json/parse.h"

namespace pintle::json {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD.

// Returns the letter behind the backslash of a short escape, or 0 if the character has none.
char ShortEscapeOf(char c) {
  constexpr std::string_view kCharacters = "\"\\\b\f\n\r\t";
  constexpr std::string_view kLetters = "\"\\bfnrt";
  const std::size_t at = kCharacters.find(c);
  return at == std::string_view::npos ? '\0' : kLetters[at];
}

bool NeedsNoEscape(char c) { return static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\'; }

class Writer {
 public:
  // An indent of 0 writes everything on one line.
  Writer(std::string& to, std::size_t indent) : to_(to), indent_(indent) {}

  void Write(const Value& value, std::size_t depth = 0) {
    switch (value.type()) {
      case Value::Type::kNull:
        to_ += "null";
        return;
      case Value::Type::kBoolean:
        to_ += value.boolean() ? "true" : "false";
        return;
      case Value::Type::kInteger:
        return WriteNumber(value.integer());
      case Value::Type::kUnsigned:
        return WriteNumber(value.unsigned_integer());
      case Value::Type::kReal:
        // Programs compare the texts of numbers that were stored earlier, so we write the same digits as nlohmann/json.
        to_ += nlohmann::json(value.real()).dump();
        return;
      case Value::Type::kString:
        return WriteText(value.text());
      case Value::Type::kArray:
        return WriteList(
            '[', value.elements(), [](const Value& element) -> const Value& { return element; }, ']', depth);
      case Value::Type::kObject:
        return WriteList(
            '{', value.members(),
            [this](const auto& member) -> const Value& {
              WriteText(member.first);
              to_ += indent_ == 0 ? ":" : ": ";
              return member.second;
            },
            '}', depth);
    }
  }

 private:
  // Writes all elements.  `value_of` writes the key of an element, if it has one, and returns its value.
  template <typename List, typename ValueOf>
  void WriteList(char open, const List& list, const ValueOf& value_of, char close, std::size_t depth) {
    to_ += open;
    bool is_first = true;
    for (const auto& element : list) {
      if (!std::exchange(is_first, false)) to_ += ',';
      BeginLine(depth + 1);
      Write(value_of(element), depth + 1);
    }
    if (!list.empty()) BeginLine(depth);
    to_ += close;
  }

  void BeginLine(std::size_t depth) {
    if (indent_ == 0) return;
    to_ += '\n';
    to_.append(indent_ * depth, ' ');
  }

  template <typename Number>
  void WriteNumber(Number number) {
    std::array<char, std::numeric_limits<Number>::digits10 + 2> digits = {};  // One more digit, and a sign.
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    to_.append(digits.data(), end);
  }

  void WriteText(std::string_view text) {
    to_ += '"';
    while (!text.empty()) {
      if (static_cast<unsigned char>(text.front()) < 0x80) {
        WriteAscii(text);
        continue;
      }
      const Utf8Character first = FirstUtf8Character(text);
      to_ += first.is_valid ? text.substr(0, first.length) : kReplacement;
      text.remove_prefix(first.length);
    }
    to_ += '"';
  }

  // Writes the longest beginning of `text` that needs no escape, or else one escaped character, and removes it from
  // `text`.
  void WriteAscii(std::string_view& text) {
    std::size_t plain = 0;
    while (plain < text.size() && static_cast<unsigned char>(text[plain]) < 0x80 && NeedsNoEscape(text[plain])) ++plain;
    if (plain > 0) {
      to_ += text.substr(0, plain);
      return text.remove_prefix(plain);
    }
    const char c = text.front();
    if (const char letter = ShortEscapeOf(c); letter != '\0') {
      to_ += '\\';
      to_ += letter;
    } else {
      to_ += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    }
    text.remove_prefix(1);
  }

  std::string& to_;
  const std::size_t indent_;
};

std::string Written(const Value& value, std::size_t indent) {
  std::string text;
  Writer(text, indent).Write(value);
  return text;
}

}  // namespace

std::string ToText(const Value& value) { return Written(value, 0); }

std::string ToIndentedText(const Value& value) { return Written(value, 2); }

}  // namespace pintle::json
