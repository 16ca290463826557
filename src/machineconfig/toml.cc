// SPDX-License-Identifier: Apache-2.0
#include "machineconfig/toml.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/utf8.h"
#include "machineconfig/toml_scalar.h"

namespace pintle::machineconfig {
namespace {

constexpr std::size_t kDeepest = 100;  // In levels of nesting.

using Key = std::vector<std::string>;

// The longest key that an error message may contain.
constexpr std::size_t kLongestName = 64;

// Returns the parts of a key with dots between them, behind the key of its table.  No message contains a key that is
// longer than kLongestName, so the result is cut off: a file may have millions of members below a key of a megabyte.
std::string Joined(const Key& key, std::string text = "") {
  for (const std::string& part : key) {
    if (text.size() > kLongestName) break;
    if (!text.empty()) text += '.';
    text.append(part, 0, kLongestName + 1);
  }
  return text;
}

bool IsBareKeyCharacter(char c) { return IsLetterOrDigit(c) || c == '_' || c == '-'; }

// Returns whether an error message is allowed to contain this key, such as "registry.mirror-by-digest-only".  Other
// keys may be secrets in a wrong place: tokens and hashes have capitals and digits.
bool IsName(std::string_view key) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz-_.";
  return !key.empty() && key.size() <= kLongestName && key.find_first_not_of(kLetters) == std::string_view::npos;
}

bool IsTomlWhitespace(char c) { return c == ' ' || c == '\t'; }

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Result<json::Value> Read() {
    json::Value document = json::Value::object();
    json::Value* table = &document;
    for (;;) {
      SkipBlankLines();
      if (AtEnd()) return document;
      if (Peek() == '[') {
        table = TRY(ReadHeader(document));
      } else {
        TRY(ReadMember(*table));
      }
      TRY(ExpectEndOfLine());
    }
  }

 private:
  // The next functions read characters.

  bool AtEnd() const { return at_ >= text_.size(); }
  char Peek() const { return AtEnd() ? '\0' : text_[at_]; }
  bool StartsWith(std::string_view word) const { return text_.substr(at_).starts_with(word); }

  void Advance(std::size_t count = 1) {
    for (; count > 0 && !AtEnd(); --count) {
      if (text_[at_++] == '\n') ++line_;
    }
  }

  bool Take(std::string_view word) {
    if (!StartsWith(word)) return false;
    Advance(word.size());
    return true;
  }

  void SkipBlanks() {
    while (!AtEnd() && IsTomlWhitespace(Peek())) Advance();
  }

  void SkipComment() {
    if (Peek() != '#') return;
    while (!AtEnd() && Peek() != '\n') Advance();
  }

  void SkipBlankLines() {
    for (;;) {
      SkipBlanks();
      SkipComment();
      if (!Take("\n") && !Take("\r\n")) return;
    }
  }

  // Formats a character as Go's %q does.  A single character reveals no secret.
  std::string QuotedCharacter() const {
    if (AtEnd()) return "EOF";
    if (Peek() == '\n') return "'\\n'";
    if (Peek() == '\t') return "'\\t'";
    if (Peek() == '\'') return "'\\''";
    const auto first = static_cast<unsigned char>(Peek());
    const std::size_t size = first < 0xC0 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    return fmt::format("'{}'", text_.substr(at_, size));
  }

  // The message contains the last key only if it can be the name of a setting: any other text may be a secret in the
  // wrong place.
  Error Wrong(std::string_view problem) const {
    if (!IsName(last_key_)) return Error(ErrorKind::kInvalid, fmt::format("toml: line {}: {}", line_, problem));
    return Error(ErrorKind::kInvalid, fmt::format("toml: line {} (last key \"{}\"): {}", line_, last_key_, problem));
  }

  Result<> ExpectEndOfLine() {
    SkipBlanks();
    SkipComment();
    if (AtEnd() || Take("\n") || Take("\r\n")) return {};
    return Wrong(fmt::format("expected a top-level item to end with a newline, comment, or EOF, but got {} instead",
                             QuotedCharacter()));
  }

  // The next functions read tables and their keys.

  Result<json::Value*> ReadHeader(json::Value& document) {
    const bool is_list = Take("[[");
    if (!is_list) Advance();
    const Key table_key = TRY(ReadKey());
    table_name_ = Joined(table_key);
    last_key_ = table_name_;
    if (!Take(is_list ? "]]" : "]")) {
      return Wrong(fmt::format("expected '.' or ']' to end table name, but got {} instead", QuotedCharacter()));
    }
    json::Value* outer = TRY(Enter(document, table_key));
    json::Value& slot = (*outer)[table_key.back()];
    if (slot.is_null()) slot = is_list ? json::Value::array() : json::Value::object();
    const bool is_other_kind = is_list ? !slot.is_array() : !slot.is_object();
    if (is_other_kind || fixed_.contains(&slot)) return AlreadyDefined(last_key_);
    if (is_list) return &slot.push_back(json::Value::object());
    if (!headers_.insert(&slot).second) return AlreadyDefined(last_key_);
    return &slot;
  }

  Error AlreadyDefined(const std::string& key) const {
    if (!IsName(key)) return Wrong("A key has already been defined.");
    return Wrong(fmt::format("Key '{}' has already been defined.", key));
  }

  // Returns the table that contains a key, and creates tables as needed.  A list on the way stands for its last table.
  Result<json::Value*> Enter(json::Value& from, const Key& key) {
    if (key.size() > kDeepest) return Wrong("nested too deep");
    json::Value* table = &from;
    for (std::size_t i = 0; i + 1 < key.size(); ++i) {
      json::Value& next = (*table)[key[i]];
      if (fixed_.contains(&next)) return AlreadyDefined(Joined(key));
      if (next.is_null()) next = json::Value::object();
      table = next.is_array() && !next.empty() ? &next.elements().back() : &next;
      if (!table->is_object()) return AlreadyDefined(Joined(key));
    }
    return table;
  }

  Result<> ReadMember(json::Value& table) {
    const Key key = TRY(ReadKey());
    last_key_ = Joined(key, table_name_);
    SkipBlanks();
    if (Peek() != '=') return Wrong(fmt::format("expected '.' or '=', but got {} instead", QuotedCharacter()));
    Advance();
    json::Value* holder = TRY(Enter(table, key));
    if (holder->contains(key.back())) return AlreadyDefined(last_key_);
    return ReadMemberValue((*holder)[key.back()], 0);
  }

  // Reads the value of a new member.  An array or a table that is written as a value cannot be extended later.
  Result<> ReadMemberValue(json::Value& slot, std::size_t depth) {
    slot = TRY(ReadValue(depth));
    if (slot.is_structured()) fixed_.insert(&slot);
    return {};
  }

  Result<Key> ReadKey() {
    Key key;
    do {
      SkipBlanks();
      key.push_back(TRY(ReadKeyPart()));
      SkipBlanks();
    } while (Take("."));
    return key;
  }

  Result<std::string> ReadKeyPart() {
    if (Peek() == '"') return ReadBasicText();
    if (Peek() == '\'') return ReadLiteralText();
    const std::size_t begin = at_;
    while (!AtEnd() && IsBareKeyCharacter(Peek())) Advance();
    if (at_ > begin) return std::string(text_.substr(begin, at_ - begin));
    if (Peek() == '=' || AtEnd()) return Wrong("unexpected '='");
    if (Peek() == '.') return Wrong("unexpected '.'");
    if (Peek() == ']') return Wrong("unexpected end of table name (table names cannot be empty)");
    return Wrong(fmt::format("bare keys cannot contain {}", QuotedCharacter()));
  }

  // The next functions read values.

  Result<json::Value> ReadValue(std::size_t depth) {
    if (depth > kDeepest) return Wrong("nested too deep");
    SkipBlanks();
    switch (Peek()) {
      case '"':
        return Text(StartsWith("\"\"\"") ? ReadLongText("\"\"\"", Escapes::kYes) : ReadBasicText());
      case '\'':
        return Text(StartsWith("'''") ? ReadLongText("'''", Escapes::kNo) : ReadLiteralText());
      case '[':
        return ReadArray(depth);
      case '{':
        return ReadInlineTable(depth);
      default:
        return ReadBareValue();
    }
  }

  static Result<json::Value> Text(Result<std::string> text) { return json::Value(TRY(std::move(text))); }

  Result<json::Value> ReadArray(std::size_t depth) {
    json::Value array = json::Value::array();
    Advance();
    for (;;) {
      SkipBlankLines();
      if (Take("]")) return array;
      array.push_back(TRY(ReadValue(depth + 1)));
      SkipBlankLines();
      if (Take(",")) continue;
      if (Take("]")) return array;
      return Wrong(fmt::format("expected a comma (',') or array terminator (']'), but got {}", QuotedCharacter()));
    }
  }

  Result<json::Value> ReadInlineTable(std::size_t depth) {
    json::Value table = json::Value::object();
    Advance();
    SkipBlanks();
    if (Take("}")) return table;
    for (;;) {
      const Key key = TRY(ReadKey());
      SkipBlanks();
      if (!Take("=")) return Wrong(fmt::format("expected '.' or '=', but got {} instead", QuotedCharacter()));
      json::Value* holder = TRY(Enter(table, key));
      if (holder->contains(key.back())) return AlreadyDefined(Joined(key));
      TRY(ReadMemberValue((*holder)[key.back()], depth + 1));
      SkipBlanks();
      if (Take("}")) return table;
      if (!Take(",")) {
        return Wrong(
            fmt::format("expected a comma or an inline table terminator '}}', but got {} instead", QuotedCharacter()));
      }
    }
  }

  // Decides whether a backslash in a text begins an escape.
  enum class Escapes { kNo, kYes };

  Result<std::string> ReadLiteralText() {
    Advance();
    const std::size_t end = text_.find_first_of("'\n", at_);
    if (end == std::string_view::npos) return Wrong("unexpected EOF; expected \"'\"");
    if (text_[end] == '\n') return Wrong("strings cannot contain newlines");
    std::string text(text_.substr(at_, end - at_));
    Advance(end + 1 - at_);
    return text;
  }

  Result<std::string> ReadBasicText() {
    std::string text;
    Advance();
    for (;;) {
      if (AtEnd()) return Wrong("unexpected EOF; expected '\"'");
      if (Peek() == '\n') return Wrong("strings cannot contain newlines");
      if (Take("\"")) return text;
      TRY(ReadTextCharacter(text, Escapes::kYes));
    }
  }

  Result<std::string> ReadLongText(std::string_view quotes, Escapes escapes) {
    std::string text;
    Advance(quotes.size());
    if (!Take("\n")) Take("\r\n");
    for (;;) {
      if (AtEnd()) return Wrong(fmt::format("unexpected EOF; expected '{}'", quotes));
      // Up to two quotes may precede the three that end the text.
      if (StartsWith(quotes) && text_.substr(at_ + quotes.size(), 1) != quotes.substr(0, 1)) {
        Advance(quotes.size());
        return text;
      }
      if (escapes == Escapes::kYes && SkipLineEnd()) continue;
      TRY(ReadTextCharacter(text, escapes));
    }
  }

  // A backslash at the end of a line removes all blanks and breaks that follow it.
  bool SkipLineEnd() {
    if (Peek() != '\\') return false;
    const std::size_t behind = text_.find_first_not_of(" \t\r", at_ + 1);
    if (behind == std::string_view::npos || text_[behind] != '\n') return false;
    Advance(std::min(text_.find_first_not_of(" \t\r\n", behind), text_.size()) - at_);
    return true;
  }

  Result<> ReadTextCharacter(std::string& text, Escapes escapes) {
    if (Peek() != '\\' || escapes == Escapes::kNo) {
      text += Peek();
      Advance();
      return {};
    }
    Advance();
    const char escape = Peek();
    Advance();
    switch (escape) {
      case 'b':
        text += '\b';
        return {};
      case 't':
        text += '\t';
        return {};
      case 'n':
        text += '\n';
        return {};
      case 'f':
        text += '\f';
        return {};
      case 'r':
        text += '\r';
        return {};
      case 'e':
        text += '\x1B';
        return {};
      case '"':
      case '\\':
        text += escape;
        return {};
      case 'u':
        return ReadCode(text, 4);
      case 'U':
        return ReadCode(text, 8);
      default:
        return Wrong(fmt::format("invalid escape character '{}'", escape));
    }
  }

  Result<> ReadCode(std::string& text, std::size_t digits) {
    const std::string_view hex = text_.substr(at_, digits);
    std::uint32_t code = 0;
    const auto [end, error] = std::from_chars(hex.data(), hex.data() + hex.size(), code, 16);
    const bool is_character = code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);
    if (error != std::errc() || end != hex.data() + digits || !is_character) {
      return Wrong(fmt::format("expected {} hexadecimal digits of a character", digits));
    }
    Advance(digits);
    AppendUtf8(code, text);
    return {};
  }

  Result<json::Value> ReadBareValue() {
    const std::size_t begin = at_;
    const auto belongs = [](char c) { return IsBareKeyCharacter(c) || c == '+' || c == '.' || c == ':'; };
    while (!AtEnd() && belongs(Peek())) Advance();
    // A date and a time may be separated by a space.
    const bool is_date = at_ - begin == 10 && text_[begin + 4] == '-';
    if (is_date && Peek() == ' ' && at_ + 1 < text_.size() && IsDigit(text_[at_ + 1])) {
      Advance();
      while (!AtEnd() && belongs(Peek())) Advance();
    }
    const std::string_view word = text_.substr(begin, at_ - begin);
    if (word.empty()) {
      if (AtEnd()) return Wrong("unexpected EOF; expected value");
      return Wrong(fmt::format("expected value but found {} instead", QuotedCharacter()));
    }
    return MeaningOfWord(word);
  }

  Result<json::Value> MeaningOfWord(std::string_view word) const {
    if (word == "true") return json::Value(true);
    if (word == "false") return json::Value(false);
    const bool is_number = IsDigit(word[0]) || word[0] == '+' || word[0] == '-' || word == "inf" || word == "nan";
    if (!is_number) return Wrong("expected value but found another word instead");
    if (auto value = TomlScalar(word)) return *std::move(value);
    return Wrong("invalid number or date");
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  std::string table_name_;  // The key of the current header.
  std::string last_key_;
  // Sets of addresses.  The addresses stay valid: a member of a table keeps its place for as long as the table lives.
  std::set<const json::Value*> headers_;  // Tables that have had a [header].
  std::set<const json::Value*> fixed_;    // Arrays and tables that were written as values, and cannot be extended.
};

constexpr std::string_view kUtf8ByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

Result<json::Value> ParseToml(std::string_view text) {
  if (text.starts_with(kUtf8ByteOrderMark)) text.remove_prefix(kUtf8ByteOrderMark.size());
  // ASCII text in UTF-16 has a zero byte at its beginning.
  constexpr std::size_t kPrefixSize = 6;
  if (text.substr(0, kPrefixSize).find('\0') != std::string_view::npos) {
    return Error(ErrorKind::kInvalid,
                 "toml: line 1: files cannot contain NULL bytes; probably using UTF-16; TOML files must be UTF-8");
  }
  return Reader(text).Read();
}

}  // namespace pintle::machineconfig
