// SPDX-License-Identifier: Apache-2.0
#include "ignition/unit_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/utf8.h"

namespace pintle::ignition {
namespace {

// In bytes.  systemd cuts longer lines, so Ignition refuses them if it sees them in its buffer.
constexpr std::size_t kLineMax = 2048;
constexpr std::size_t kBufferSize = 4096;

Error InvalidUnit(std::string problem) {
  return Error(ErrorKind::kInvalid, "invalid unit content: " + std::move(problem));
}

struct Character {
  std::uint32_t code = 0;
  std::size_t size = 0;  // 0 at the end of the text.
};

// Returns the first character of a text in UTF-8.  As in Go, a byte that begins no valid character counts as U+FFFD.
Character FirstCharacter(std::string_view text) {
  if (text.empty()) return {};
  const Utf8Character first = FirstUtf8Character(text);
  if (!first.is_valid) return {0xfffd, 1};
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (first.length == 1) return {byte(0), 1};
  // The first byte begins with as many ones as the character has bytes, and with a zero.
  std::uint32_t code = byte(0) & (0x7fU >> first.length);
  for (std::size_t i = 1; i < first.length; ++i) code = code << 6 | (byte(i) & 0x3fU);
  return {code, first.length};
}

// Returns whether FirstCharacter() would return the same if more text followed.
bool HasFirstCharacter(std::string_view text) {
  if (text.empty()) return false;
  const Utf8Character first = FirstUtf8Character(text);
  const auto byte = static_cast<unsigned char>(text.front());
  const bool may_continue = byte >= 0xc2 && byte <= 0xf4 && first.length == text.size();
  return first.is_valid || !may_continue;
}

bool IsUnicodeSpace(std::uint32_t code) {
  switch (code) {
    case '\t':
    case '\n':
    case '\v':
    case '\f':
    case '\r':
    case ' ':
    case 0x85:
    case 0xa0:
    case 0x1680:
    case 0x2028:
    case 0x2029:
    case 0x202f:
    case 0x205f:
    case 0x3000:
      return true;
    default:
      return code >= 0x2000 && code <= 0x200a;
  }
}

std::string_view TrimStart(std::string_view text) {
  for (Character character = FirstCharacter(text); character.size > 0 && IsUnicodeSpace(character.code);
       character = FirstCharacter(text)) {
    text.remove_prefix(character.size);
  }
  return text;
}

std::string_view Trim(std::string_view text) {
  text = TrimStart(text);
  while (!text.empty()) {
    std::size_t start = text.size() - 1;
    while (start > 0 && text.size() - start < 3 && (static_cast<unsigned char>(text[start]) & 0xc0) == 0x80) --start;
    const Character last = FirstCharacter(text.substr(start));
    if (last.size != text.size() - start || !IsUnicodeSpace(last.code)) break;
    text.remove_suffix(last.size);
  }
  return text;
}

bool BeginsComment(std::uint32_t code) { return code == '#' || code == ';'; }

// Reads a text through a buffer that is refilled only when it does not have the rest of the character or line.  The
// state of the buffer decides which lines are found to be too long.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  bool SeesTooLongLine() const {
    if (loaded_ - at_ < kLineMax) return false;
    return text_.substr(at_, kLineMax).find_first_of("\r\n") == std::string_view::npos;
  }

  Character ReadCharacter() {
    if (!HasFirstCharacter(text_.substr(at_, loaded_ - at_))) Fill();
    const Character character = FirstCharacter(text_.substr(at_));
    at_ += character.size;
    return character;
  }

  void PutBack(const Character& character) { at_ -= character.size; }

  // Returns the text up to the next `end`, and moves behind that byte.  If there is no such byte, `found` is false, and
  // the remaining text is returned.
  std::string_view ReadUntil(char end, bool& found) {
    const std::size_t start = at_;
    const std::size_t stop = text_.find(end, start);
    found = stop != std::string_view::npos;
    const std::size_t next = found ? stop + 1 : text_.size();
    while (loaded_ < next) {
      if (loaded_ - at_ >= kBufferSize) at_ = loaded_;  // Ignition's reader drops a full buffer before it reads on.
      Fill();
    }
    at_ = next;
    return text_.substr(start, (found ? stop : next) - start);
  }

  // `found` reports whether the line ends with a line break.
  std::string_view ReadLine(bool& found) {
    std::string_view line = ReadUntil('\n', found);
    if (!found && line.ends_with('\r')) line.remove_suffix(1);
    return line;
  }

 private:
  void Fill() { loaded_ = std::min(text_.size(), at_ + kBufferSize); }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t loaded_ = 0;
};

class Parser {
 public:
  explicit Parser(std::string_view text) : reader_(text) {}

  Result<UnitContents> Parse() {
    while (step_ != Step::kDone) {
      if (reader_.SeesTooLongLine()) return InvalidUnit(fmt::format("line too long (max {} bytes)", kLineMax));
      TRY(Advance());
    }
    return contents_;
  }

 private:
  enum class Step { kBeforeSection, kSectionName, kSectionEnd, kInSection, kName, kValue, kComment, kDone };

  Result<> Advance() {
    switch (step_) {
      case Step::kBeforeSection:
        return BeforeSection();
      case Step::kSectionName:
        return SectionName();
      case Step::kSectionEnd:
        return SectionEnd();
      case Step::kInSection:
        return InSection();
      case Step::kName:
        return Name();
      case Step::kValue:
        return Value();
      case Step::kComment:
        return Comment();
      case Step::kDone:
        return {};
    }
    return {};
  }

  Result<> BeforeSection() {
    const Character character = reader_.ReadCharacter();
    if (character.size == 0) {
      step_ = Step::kDone;
    } else if (character.code == '[') {
      step_ = Step::kSectionName;
    } else if (BeginsComment(character.code)) {
      after_comment_ = Step::kBeforeSection;
      step_ = Step::kComment;
    }
    return {};
  }

  Result<> SectionName() {
    bool found = false;
    section_ = reader_.ReadUntil(']', found);
    if (!found) return InvalidUnit("unable to find end of section");
    step_ = Step::kSectionEnd;
    return {};
  }

  Result<> SectionEnd() {
    bool found = false;
    const std::string_view garbage = Trim(reader_.ReadLine(found));
    if (!garbage.empty()) return InvalidUnit("found garbage after section name");
    step_ = Step::kInSection;
    return {};
  }

  Result<> InSection() {
    const Character character = reader_.ReadCharacter();
    if (character.size == 0) {
      step_ = Step::kDone;
    } else if (character.code == '[') {
      step_ = Step::kSectionName;
    } else if (BeginsComment(character.code)) {
      after_comment_ = Step::kInSection;
      step_ = Step::kComment;
    } else if (!IsUnicodeSpace(character.code)) {
      reader_.PutBack(character);
      step_ = Step::kName;
    }
    return {};
  }

  Result<> Name() {
    for (;;) {
      const Character character = reader_.ReadCharacter();
      if (character.size == 0) return InvalidUnit("EOF");
      if (character.code == '\n' || character.code == '\r') {
        return InvalidUnit("unexpected newline encountered while parsing option name");
      }
      if (character.code == '=') break;
    }
    step_ = Step::kValue;
    return {};
  }

  // Reads one line of a value; a backslash at its end continues the value.
  Result<> Value() {
    bool found = false;
    const std::string_view line = reader_.ReadLine(found);
    if (!Trim(line).empty() && line.ends_with('\\')) return {};
    contents_.has_options = true;
    contents_.has_install_section = contents_.has_install_section || section_ == "Install";
    step_ = Step::kInSection;
    return {};
  }

  Result<> Comment() {
    for (;;) {
      bool found = false;
      std::string_view line = reader_.ReadLine(found);
      if (line.ends_with(' ')) line.remove_suffix(1);
      if (!line.ends_with('\\')) break;
    }
    step_ = after_comment_;
    return {};
  }

  Reader reader_;
  Step step_ = Step::kBeforeSection;
  Step after_comment_ = Step::kBeforeSection;
  std::string_view section_;
  UnitContents contents_;
};

}  // namespace

Result<UnitContents> ReadUnit(std::string_view text) { return Parser(text).Parse(); }

}  // namespace pintle::ignition
