// SPDX-License-Identifier: Apache-2.0
#include "machineconfig/go_yaml.h"

#include <fmt/core.h>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "machineconfig/go_yaml_character.h"
#include "machineconfig/go_yaml_order.h"
#include "machineconfig/go_yaml_style.h"
#include "machineconfig/yaml_scalar.h"

namespace pintle::machineconfig {
namespace {

constexpr std::size_t kStep = 2;          // The indentation of a level, in spaces.
constexpr std::size_t kWidth = 80;        // In characters; a longer line is folded at its next space.
constexpr std::size_t kLongestKey = 128;  // In bytes; a longer key gets a line of its own, after "? ".

// Imitates how the operator's library reads a string of a JSON text as YAML: there a raw U+0085 is a line break, which
// is folded.
class JsonStringReader {
 public:
  // Returns the text as the library reads it.  The result is `text` itself, or is valid until the next call.
  Result<std::string_view> operator()(std::string_view text) {
    if (!MayChange(text)) return text;
    read_.clear();
    for (std::size_t at = 0; at < text.size();) {
      const Character c = CharacterAt(text, at);
      if (IsForbidden(c.code)) return Error(ErrorKind::kInvalid, "yaml: control characters are not allowed");
      if (c.code == ' ' || c.code == kNextLine) {
        at = FoldBlanks(text, at);
        if (EndsInBreak(text, at)) TRY(RefuseMarker(text.substr(at)));
      } else {
        read_.append(text, at, c.size);
        at += c.size;
      }
    }
    return read_;
  }

 private:
  // The first bytes of DEL, of U+0080 to U+00BF, and of U+F000 to U+FFFF.
  static constexpr std::string_view kFirstBytes = "\x7F\xC2\xEF";

  static bool MayChange(std::string_view text) {
    return std::any_of(kFirstBytes.begin(), kFirstBytes.end(),
                       [&](char c) { return text.find(c) != std::string_view::npos; });
  }

  // Folds a run of spaces and breaks.  Without a break, the spaces stay.  A single break becomes a space; of several
  // breaks, each but the first becomes a line feed.
  std::size_t FoldBlanks(std::string_view text, std::size_t at) {
    const std::size_t begin = at;
    std::size_t breaks = 0;
    for (; at < text.size();) {
      const Character c = CharacterAt(text, at);
      if (c.code != ' ' && c.code != kNextLine) break;
      if (c.code == kNextLine) ++breaks;
      at += c.size;
    }
    lines_ += breaks;
    if (breaks == 0) {
      read_.append(text, begin, at - begin);
    } else if (breaks == 1) {
      read_ += ' ';
    } else {
      read_.append(breaks - 1, '\n');
    }
    return at;
  }

  static bool EndsInBreak(std::string_view text, std::size_t at) { return text.substr(0, at).ends_with("\xC2\x85"); }

  // At the beginning of a line, "---" and "..." end a document.
  Result<> RefuseMarker(std::string_view line) const {
    if (!line.starts_with("---") && !line.starts_with("...")) return {};
    const bool stands_alone = line.size() > 3 && (line[3] == ' ' || line.substr(3).starts_with("\xC2\x85"));
    if (!stands_alone) return {};
    return Error(ErrorKind::kInvalid, fmt::format("yaml: line {}: found unexpected document indicator", lines_ + 1));
  }

  std::string read_;
  std::size_t lines_ = 0;  // Counts the breaks so far, in all texts.
};

class Writer {
 public:
  explicit Writer(const TextSink& sink) : sink_(sink) {}

  Result<> WriteDocument(std::vector<GoYamlMember> members) {
    TRY(WriteMembers(std::move(members), 0, Line::kNew));
    return End();
  }

  Result<> WriteDocument(const json::Value& value) {
    if (value.is_object() && !value.empty()) {
      TRY(WriteMap(value, 0, Line::kNew));
    } else if (value.is_array() && !value.empty()) {
      TRY(WriteList(value, 0, Line::kNew));
    } else {
      TRY(WriteLeaf(value, 0));
    }
    return End();
  }

 private:
  Result<> End() {
    if (!line_is_empty_) Put('\n');
    Flush();
    return {};
  }

  // kSame puts the first entry of a list or a mapping on the current line, after a "- ".
  enum class Line { kNew, kSame };

  Result<> WriteMap(const json::Value& map, std::size_t indent, Line line) {
    std::vector<GoYamlMember> members;
    members.reserve(map.size());
    for (const auto& [key, value] : map.members()) members.push_back({key, &value});
    return WriteMembers(std::move(members), indent, line);
  }

  Result<> WriteMembers(std::vector<GoYamlMember> members, std::size_t indent, Line line) {
    PutInOrder(members);
    for (const GoYamlMember& member : members) {
      BeginEntry(indent, std::exchange(line, Line::kNew));
      const std::string key(TRY(read_back_(member.key)));
      const AllowedStyles styles = AllowedStylesFor(key, IsVisibleAscii(key));
      if (key.size() <= kLongestKey && !styles.has_breaks) {
        WriteText(key, styles, TextPlace::kSimpleKey, indent + kStep);
        Put(':');
        TRY(WriteBehindKey(*member.value, indent));
      } else {
        Put("? ");
        WriteText(key, styles, TextPlace::kElsewhere, indent + kStep);
        BeginEntry(indent, Line::kNew);
        Put(": ");
        TRY(WriteBehindMark(*member.value, indent));
      }
    }
    return {};
  }

  // Numbers in keys wrap around at 2^63, so keys can be in a circle: "9" < "9223372036854775808" < "1" < "9".
  // std::sort() is undefined for such keys; this merge sort is defined for any comparison.  Go's yaml sorts keys that
  // come in random order, so it has no fixed order for a circle, either.
  static void PutInOrder(std::vector<GoYamlMember>& members) {
    const auto is_wrong = [](const GoYamlMember& a, const GoYamlMember& b) { return IsBefore(b.key, a.key); };
    if (std::adjacent_find(members.begin(), members.end(), is_wrong) == members.end()) return;
    const std::size_t size = members.size();
    std::vector<GoYamlMember> merged(size);
    for (std::size_t width = 1; width < size; width *= 2) {
      for (std::size_t begin = 0; begin < size; begin += 2 * width) {
        const std::size_t middle = std::min(begin + width, size);
        const std::size_t end = std::min(middle + width, size);
        std::size_t left = begin;
        std::size_t right = middle;
        for (std::size_t at = begin; at < end; ++at) {
          const bool take_right = left == middle || (right < end && is_wrong(members[left], members[right]));
          merged[at] = members[take_right ? right++ : left++];
        }
      }
      members.swap(merged);
    }
  }

  Result<> WriteList(const json::Value& list, std::size_t indent, Line line) {
    for (const json::Value& element : list) {
      BeginEntry(indent, std::exchange(line, Line::kNew));
      Put("- ");
      TRY(WriteBehindMark(element, indent));
    }
    return {};
  }

  // A mapping begins on a new line with more indentation.  A list begins on a new line, indented like its key.
  Result<> WriteBehindKey(const json::Value& value, std::size_t indent) {
    if (value.is_object() && !value.empty()) return WriteMap(value, indent + kStep, Line::kNew);
    if (value.is_array() && !value.empty()) return WriteList(value, indent, Line::kNew);
    Put(' ');
    return WriteLeaf(value, indent + kStep);
  }

  // After "- ", "? " and ": ", everything continues on the same line.
  Result<> WriteBehindMark(const json::Value& value, std::size_t indent) {
    if (value.is_object() && !value.empty()) return WriteMap(value, indent + kStep, Line::kSame);
    if (value.is_array() && !value.empty()) return WriteList(value, indent + kStep, Line::kSame);
    return WriteLeaf(value, indent + kStep);
  }

  Result<> WriteLeaf(const json::Value& value, std::size_t indent) {
    switch (value.type()) {
      case json::Value::Type::kObject:
        Put("{}");
        return {};
      case json::Value::Type::kArray:
        Put("[]");
        return {};
      case json::Value::Type::kString:
        return WriteTextLeaf(value.text(), indent);
      case json::Value::Type::kBoolean:
        Put(value.boolean() ? "true" : "false");
        return {};
      case json::Value::Type::kInteger:
        Put(std::to_string(value.integer()));
        return {};
      case json::Value::Type::kUnsigned:
        Put(std::to_string(value.unsigned_integer()));
        return {};
      case json::Value::Type::kReal:
        Put(NumberText(value.real()));
        return {};
      default:
        Put("null");
        return {};
    }
  }

  Result<> WriteTextLeaf(std::string_view text, std::size_t indent) {
    // The text can be the contents of a large file, so it is scanned only once before it is hashed.
    const bool is_visible_ascii = IsVisibleAscii(text);
    if (!is_visible_ascii) text = TRY(read_back_(text));
    const AllowedStyles styles = AllowedStylesFor(text, is_visible_ascii);
    WriteText(text, styles, TextPlace::kElsewhere, indent);
    return {};
  }

  static std::string NumberText(double number) {
    const auto through_json = ThroughJson(number);
    // No JSON text can hold infinity or NaN, so such a number has not come from one.
    if (!through_json) return GoNumberText(number);
    return std::visit(
        []<typename N>(N n) {
          if constexpr (std::same_as<N, double>) {
            return GoNumberText(n);
          } else {
            return std::to_string(n);
          }
        },
        *through_json);
  }

  void WriteText(std::string_view text, const AllowedStyles& styles, TextPlace place, std::size_t indent) {
    const bool may_fold = place != TextPlace::kSimpleKey;
    switch (StyleOf(text, styles, place)) {
      case Style::kPlain:
        return WritePlain(text, indent, may_fold && styles.has_blanks);
      case Style::kSingleQuoted:
        return WriteSingleQuoted(text, indent, may_fold);
      case Style::kDoubleQuoted:
        return WriteDoubleQuoted(text, indent, may_fold);
      case Style::kLiteral:
        return WriteLiteral(text, indent);
    }
  }

  bool IsTooWide() const { return column_ > kWidth; }

  void WritePlain(std::string_view text, std::size_t indent, bool may_fold) {
    if (!may_fold) return Put(text);
    bool behind_space = false;
    for (std::size_t at = 0; at < text.size(); ++at) {
      const bool is_space = text[at] == ' ';
      if (is_space && !behind_space && IsTooWide() && text[at + 1] != ' ') {
        BreakLine(indent);
      } else {
        Put(text[at]);
      }
      behind_space = is_space;
    }
  }

  void WriteSingleQuoted(std::string_view text, std::size_t indent, bool may_fold) {
    Put('\'');
    bool behind_space = false;
    bool behind_break = false;
    for (std::size_t at = 0; at < text.size();) {
      const Character c = CharacterAt(text, at);
      const bool is_inside = at > 0 && at + 1 < text.size();
      const std::size_t next = at + c.size;
      if (c.code == ' ') {
        if (may_fold && !behind_space && IsTooWide() && is_inside && text[next] != ' ') {
          BreakLine(indent);
        } else {
          Put(' ');
        }
        behind_space = true;
      } else if (IsBreak(c.code)) {
        PutBreak(text.substr(at, c.size));
        behind_break = true;
      } else {
        if (behind_break) Pad(indent);
        if (c.code == '\'') Put('\'');
        Put(text.substr(at, c.size));
        behind_space = false;
        behind_break = false;
      }
      at = next;
    }
    Put('\'');
  }

  void WriteDoubleQuoted(std::string_view text, std::size_t indent, bool may_fold) {
    Put('"');
    // The library means to escape byte order marks only, but escapes every character of a text that begins with one.
    const bool escape_all = text.starts_with("\xEF\xBB\xBF");
    bool behind_space = false;
    for (std::size_t at = 0; at < text.size();) {
      const Character c = CharacterAt(text, at);
      const std::size_t next = at + c.size;
      const bool is_inside = at > 0 && next < text.size();
      const bool is_plain = IsPrintable(c.code) && !IsBreak(c.code) && c.code != '"' && c.code != '\\' && !escape_all;
      if (!is_plain) {
        PutEscaped(c.code);
        behind_space = false;
      } else if (c.code != ' ') {
        Put(text.substr(at, c.size));
        behind_space = false;
      } else {
        if (may_fold && !behind_space && IsTooWide() && is_inside) {
          BreakLine(indent);
          if (text[next] == ' ') Put('\\');
        } else {
          Put(' ');
        }
        behind_space = true;
      }
      at = next;
    }
    Put('"');
  }

  void PutEscaped(char32_t c) {
    struct ShortEscape {
      char32_t code;
      char letter;
    };
    constexpr ShortEscape kShortEscapes[] = {
        {0x00, '0'}, {0x07, 'a'}, {0x08, 'b'},  {0x09, 't'}, {0x0A, 'n'}, {0x0B, 'v'},   {0x0C, 'f'},   {0x0D, 'r'},
        {0x1B, 'e'}, {0x22, '"'}, {0x5C, '\\'}, {0x85, 'N'}, {0xA0, '_'}, {0x2028, 'L'}, {0x2029, 'P'},
    };
    Put('\\');
    for (const ShortEscape& escape : kShortEscapes) {
      if (escape.code == c) return Put(escape.letter);
    }
    const auto number = static_cast<std::uint32_t>(c);
    if (number <= 0xFF) return Put(fmt::format("x{:02X}", number));
    if (number <= 0xFFFF) return Put(fmt::format("u{:04X}", number));
    Put(fmt::format("U{:08X}", number));
  }

  void WriteLiteral(std::string_view text, std::size_t indent) {
    Put('|');
    if (text[0] == ' ' || IsBreak(CharacterAt(text, 0).code)) Put('2');
    Put(ChompingOf(text));
    Put('\n');
    bool behind_break = true;
    for (std::size_t at = 0; at < text.size();) {
      const Character c = CharacterAt(text, at);
      if (IsBreak(c.code)) {
        PutBreak(text.substr(at, c.size));
        behind_break = true;
        at += c.size;
      } else {
        if (behind_break) Pad(indent);
        behind_break = false;
        const std::size_t end = EndOfAsciiLine(text, at + c.size);
        Put(text.substr(at, end - at));
        at = end;
      }
    }
    line_is_empty_ = behind_break;
  }

  // Returns the end of the run of ASCII characters that begins at `at` and contains no break.
  static std::size_t EndOfAsciiLine(std::string_view text, std::size_t at) {
    while (at < text.size() && static_cast<unsigned char>(text[at]) < 0x80 && text[at] != '\n' && text[at] != '\r')
      ++at;
    return at;
  }

  static std::size_t StartOfLastCharacter(std::string_view text) {
    std::size_t at = text.size() - 1;
    while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) --at;
    return at;
  }

  // Returns "-" for no break at the end, "+" for more than one or for nothing but a break, and "" for exactly one.
  static std::string_view ChompingOf(std::string_view text) {
    const std::size_t last = StartOfLastCharacter(text);
    if (!IsBreak(CharacterAt(text, last).code)) return "-";
    if (last == 0) return "+";
    const std::size_t before = StartOfLastCharacter(text.substr(0, last));
    return IsBreak(CharacterAt(text, before).code) ? "+" : "";
  }

  void BeginEntry(std::size_t indent, Line line) {
    if (line == Line::kSame) return;
    if (!line_is_empty_) Put('\n');
    Pad(indent);
    line_is_empty_ = false;
  }

  void BreakLine(std::size_t indent) {
    Put('\n');
    Pad(indent);
  }

  void Pad(std::size_t indent) {
    buffer_.append(indent, ' ');
    column_ += indent;
  }

  void PutBreak(std::string_view line_break) {
    buffer_ += line_break;
    column_ = 0;
  }

  void Put(char c) {
    line_is_empty_ = false;
    buffer_ += c;
    if (c == '\n') {
      column_ = 0;
    } else if (!IsContinuation(c)) {
      ++column_;
    }
    if (buffer_.size() >= kBufferLimit) Flush();
  }

  void Put(std::string_view text) {
    line_is_empty_ = false;
    if (text.size() < kBufferLimit) {
      column_ +=
          static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return !IsContinuation(c); }));
      buffer_ += text;
      if (buffer_.size() >= kBufferLimit) Flush();
      return;
    }
    // After such a long text, the column need not be exact: the line is too wide in any case.
    column_ += text.size() / 4;
    Flush();
    sink_(text);
  }
  void Put(const char* text) { Put(std::string_view(text)); }
  void Put(const std::string& text) { Put(std::string_view(text)); }

  static bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

  void Flush() {
    if (!buffer_.empty()) sink_(buffer_);
    buffer_.clear();
  }

  static constexpr std::size_t kBufferLimit = 4096;  // Longer pieces bypass the buffer.

  const TextSink& sink_;
  JsonStringReader read_back_;
  std::string buffer_;
  std::size_t column_ = 0;
  bool line_is_empty_ = true;
};

}  // namespace

Result<> WriteGoYaml(std::vector<GoYamlMember> members, const TextSink& sink) {
  return Writer(sink).WriteDocument(std::move(members));
}

Result<> WriteGoYamlDocument(const json::Value& value, const TextSink& sink) {
  return Writer(sink).WriteDocument(value);
}

}  // namespace pintle::machineconfig
