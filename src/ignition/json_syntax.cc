// SPDX-License-Identifier: Apache-2.0
#include "ignition/json_syntax.h"

#include <fmt/core.h>

#include <utility>
#include <vector>

namespace pintle::ignition {
namespace {

// Reads a text byte by byte, and stops at the first byte that JSON does not allow there.
class SyntaxCheck {
 public:
  explicit SyntaxCheck(std::string_view text) : text_(text) {}

  std::optional<SyntaxProblem> Run() {
    if (!ReadValue()) return Problem();
    while (!open_containers_.empty()) {
      if (!ReadNext()) return Problem();
    }
    SkipSpace();
    if (at_ == text_.size()) return std::nullopt;
    Fail("after top-level value");
    return Problem();
  }

 private:
  std::optional<SyntaxProblem> Problem() const {
    if (context_.empty()) return SyntaxProblem{"unexpected end of JSON input", text_.size()};
    // At the end the operator sees a space, which is not allowed within a word or a number.
    const bool is_end = at_ >= text_.size();
    return SyntaxProblem{"invalid character " + Quoted(is_end ? ' ' : text_[at_]) + " " + context_,
                         is_end ? at_ : at_ + 1};
  }

  static std::string Quoted(char c) {
    const auto byte = static_cast<unsigned char>(c);
    switch (c) {
      case '\'':
        return "'\\''";
      case '"':
        return "'\"'";
      case '\\':
        return "'\\\\'";
      case '\a':
        return "'\\a'";
      case '\b':
        return "'\\b'";
      case '\f':
        return "'\\f'";
      case '\n':
        return "'\\n'";
      case '\r':
        return "'\\r'";
      case '\t':
        return "'\\t'";
      case '\v':
        return "'\\v'";
      default:
        break;
    }
    if (byte >= 0x20 && byte < 0x7f) return std::string("'") + c + "'";
    if (byte < 0xa0 || byte == 0xad) {
      return byte < 0x80 ? fmt::format("'\\x{:02x}'", byte) : fmt::format("'\\u{:04x}'", byte);
    }
    const std::string utf8 = {static_cast<char>(0xc0 | byte >> 6), static_cast<char>(0x80 | (byte & 0x3f))};
    return "'" + utf8 + "'";
  }

  // Stores the context of the problem for its message, and returns false.
  bool Fail(std::string context) {
    context_ = std::move(context);
    return false;
  }
  // Like Fail(), for places where a space is allowed.  If the text ends at such a place, the problem is the end of the
  // text, not an invalid character.  Always returns false.
  bool FailUnlessAtEnd(const char* context) { return at_ < text_.size() && Fail(context); }

  char Peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool IsDigit() const { return Peek() >= '0' && Peek() <= '9'; }
  void SkipSpace() {
    while (at_ < text_.size() && IsJsonSpace(text_[at_])) ++at_;
  }

  bool Take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  // Reads a plain value, or the beginning of an object or a list.
  bool ReadValue() {
    SkipSpace();
    const char c = Peek();
    if (at_ == text_.size()) return false;
    if (c == '{' || c == '[') {
      ++at_;
      open_containers_.push_back({c, true});
      return true;
    }
    if (c == '"') return ReadString();
    if (c == 't') return ReadWord("true");
    if (c == 'f') return ReadWord("false");
    if (c == 'n') return ReadWord("null");
    if (c == '-' || IsDigit()) return ReadNumber();
    return Fail("looking for beginning of value");
  }

  bool ReadWord(std::string_view word) {
    ++at_;
    for (const char c : word.substr(1)) {
      if (!Take(c)) return Fail(fmt::format("in literal {} (expecting '{}')", word, c));
    }
    return true;
  }

  bool ReadDigits(const char* context) {
    if (!IsDigit()) return Fail(context);
    while (IsDigit()) ++at_;
    return true;
  }

  bool ReadNumber() {
    Take('-');
    if (!Take('0') && !ReadDigits("in numeric literal")) return false;
    if (Take('.') && !ReadDigits("after decimal point in numeric literal")) return false;
    if (Take('e') || Take('E')) {
      if (!Take('+')) Take('-');
      return ReadDigits("in exponent of numeric literal");
    }
    return true;
  }

  bool ReadString() {
    ++at_;
    for (; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (static_cast<unsigned char>(text_[at_]) < 0x20) return Fail("in string literal");
      if (text_[at_] != '\\') continue;
      ++at_;
      if (Peek() == 'u') {
        for (int i = 0; i < 4; ++i) {
          ++at_;
          if (std::string_view("0123456789abcdefABCDEF").find(Peek()) == std::string_view::npos) {
            return Fail("in \\u hexadecimal character escape");
          }
        }
      } else if (std::string_view("bfnrt\\/\"").find(Peek()) == std::string_view::npos) {
        return Fail("in string escape code");
      }
    }
    return Take('"');
  }

  struct Container {
    char bracket;
    bool is_empty;
  };

  // Reads the next element of the innermost object or list, or its end.
  bool ReadNext() {
    SkipSpace();
    Container& container = open_containers_.back();
    const bool is_object = container.bracket == '{';
    if (Take(is_object ? '}' : ']')) {
      open_containers_.pop_back();
      return true;
    }
    if (!container.is_empty && !Take(',')) {
      return FailUnlessAtEnd(is_object ? "after object key:value pair" : "after array element");
    }
    container.is_empty = false;
    if (is_object && !ReadKeyAndColon()) return false;
    return ReadValue();
  }

  bool ReadKeyAndColon() {
    SkipSpace();
    if (Peek() != '"') return FailUnlessAtEnd("looking for beginning of object key string");
    if (!ReadString()) return false;
    SkipSpace();
    return Take(':') || FailUnlessAtEnd("after object key");
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string context_;
  std::vector<Container> open_containers_;
};

}  // namespace

std::optional<SyntaxProblem> FindSyntaxProblem(std::string_view text) { return SyntaxCheck(text).Run(); }

}  // namespace pintle::ignition
