// SPDX-License-Identifier: Apache-2.0
#include "json/list_reader.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <string>
#include <system_error>
#include <utility>

#include "base/ascii.h"
#include "base/utf8.h"

namespace pintle::json {
namespace {

constexpr std::string_view kItems = "items";
constexpr std::string_view kKindKey = "kind";
// Deeper values are left to Parse(), which does not recurse.
constexpr std::size_t kDeepest = 64;

// Returns a word whose byte i has its highest bit set if the byte i of `word` ends a run of plain characters of a
// string: a quote, a backslash, a control character, or a byte of a character that is not ASCII.  Bytes above the first
// such byte may be set wrongly.
std::uint64_t EndsOfRun(std::uint64_t word) {
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  constexpr std::uint64_t kHighest = 0x8080808080808080;
  const auto has_zero = [](std::uint64_t bytes) { return (bytes - kOnes) & ~bytes; };
  const std::uint64_t quotes = has_zero(word ^ (kOnes * '"'));
  const std::uint64_t backslashes = has_zero(word ^ (kOnes * '\\'));
  const std::uint64_t controls = (word - kOnes * 0x20) & ~word;
  return (quotes | backslashes | controls | word) & kHighest;
}

// Returns how many bytes of a word in memory come before the first one that is not 0.  The word is not 0.
int BytesBefore(std::uint64_t word) {
  // The first byte in memory is the highest one on some machines.  There, EndsOfRun() may have set bytes before the
  // first end, so the caller looks at each byte.
  if constexpr (std::endian::native != std::endian::little) return 0;
  return std::countr_zero(word) / 8;
}

// Reads one text.  A function that returns false has found something that Parse() has to judge.
class Reader {
 public:
  Reader(std::string_view text, const Omissions& omissions, const ParseLimits& limits, const TakeElement& take)
      : at_(text.data()),
        end_(text.data() + text.size()),
        omissions_(omissions),
        deepest_(std::min(kDeepest, limits.depth)),
        most_values_(limits.values),
        take_(take) {}

  std::optional<Value> Read() {
    Value value;
    SkipBlanks();
    if (!ReadValue(value, "")) return std::nullopt;
    SkipBlanks();
    if (at_ != end_ || !has_list_) return std::nullopt;
    return value;
  }

 private:
  // Looks for the member of an element that decides whether a choice leaves the element out.
  struct Search {
    const ElementChoice& choice;
    std::size_t depth;  // The depth of the element.
    bool is_found = false;
    bool is_unwanted = false;
  };

  void SkipBlanks() {
    // Programs that write for people indent lines with many spaces.
    constexpr std::uint64_t kSpaces = 0x2020202020202020;
    if (at_ != end_ && *at_ == '\n') ++at_;
    while (end_ - at_ >= 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, at_, sizeof word);
      if (word != kSpaces) {
        at_ += BytesBefore(word ^ kSpaces);
        break;
      }
      at_ += sizeof word;
    }
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t')) ++at_;
  }

  // Skips one character if it is the next one.
  bool Take(char c) {
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }

  bool TakeWord(std::string_view word) {
    if (static_cast<std::size_t>(end_ - at_) < word.size()) return false;
    if (std::memcmp(at_, word.data(), word.size()) != 0) return false;
    at_ += word.size();
    return true;
  }

  // Reads the value of the member `name`, or an element of the list that the member has as its value.
  bool ReadValue(Value& to, std::string_view name) {
    if (at_ == end_ || ++count_ > most_values_) return false;
    switch (*at_) {
      case '{':
        return ReadObject(to, name);
      case '[':
        return ReadList(to, name);
      case '"': {
        std::string text;
        if (!ReadString(text)) return false;
        if (is_kept_) to = Value(std::move(text));
        return true;
      }
      case 't':
        to = true;
        return TakeWord("true");
      case 'f':
        to = false;
        return TakeWord("false");
      case 'n':
        return TakeWord("null");
      default:
        return ReadNumber(to);
    }
  }

  bool ReadObject(Value& to, std::string_view name) {
    ++at_;
    if (++depth_ > deepest_) return false;
    if (is_kept_) to = Value::object();
    const std::string_view parent = is_kept_ && HasOmissions(name) ? name : std::string_view();
    SkipBlanks();
    if (!Take('}')) {
      do {
        SkipBlanks();
        if (!ReadMember(to, parent)) return false;
        SkipBlanks();
      } while (Take(','));
      if (!Take('}')) return false;
    }
    --depth_;
    return true;
  }

  // Reads a member of one of the objects `parent`, as the header defines them.  `parent` is empty if no member of the
  // object is left out.
  bool ReadMember(Value& to, std::string_view parent) {
    std::string key;
    const char* const begin = at_;
    if (at_ == end_ || *at_ != '"' || !ReadString(key)) return false;
    const std::string_view quoted_key(begin, at_);
    SkipBlanks();
    if (!Take(':')) return false;
    SkipBlanks();
    const bool is_searched = search_ != nullptr && depth_ == search_->depth;
    if (is_searched && Unquoted(quoted_key) == search_->choice.key) return ReadSought(*search_);
    if (!is_kept_ || IsOmitted(parent, key)) return Skip();
    auto& members = to.members();
    const std::size_t before = members.size();
    // Programs usually write the keys in their order.
    const auto member = members.emplace_hint(members.end(), std::move(key), Value());
    if (members.size() == before) return false;
    if (!ReadValue(member->second, member->first)) return false;
    const bool is_kind = depth_ == element_depth_ && member->first == kKindKey && member->second.is_string();
    if (is_kind) kind_ = member->second.text();
    return true;
  }

  // Checks a value without making it.
  bool Skip() {
    const bool was_kept = std::exchange(is_kept_, false);
    Value nothing;
    const bool is_read = ReadValue(nothing, "");
    is_kept_ = was_kept;
    return is_read;
  }

  bool IsOfKind(std::string_view kind) const { return kind.empty() || kind == kind_; }

  // Returns whether members may be left out of the objects `parent`.
  bool HasOmissions(std::string_view parent) const {
    const auto is_in_parent = [&](const auto& omission) {
      return omission.parent == parent && IsOfKind(omission.kind);
    };
    return std::any_of(omissions_.members.begin(), omissions_.members.end(), is_in_parent) ||
           std::any_of(omissions_.prefixes.begin(), omissions_.prefixes.end(), is_in_parent);
  }

  bool IsOmitted(std::string_view parent, std::string_view key) const {
    if (parent.empty()) return false;
    const auto is_member = [&](const Omission& omission) {
      return omission.key == key && omission.parent == parent && IsOfKind(omission.kind);
    };
    const auto lacks_prefix = [&](const PrefixChoice& choice) {
      return choice.parent == parent && IsOfKind(choice.kind) &&
             std::none_of(choice.prefixes.begin(), choice.prefixes.end(),
                          [&](std::string_view prefix) { return key.starts_with(prefix); });
    };
    return std::any_of(omissions_.members.begin(), omissions_.members.end(), is_member) ||
           std::any_of(omissions_.prefixes.begin(), omissions_.prefixes.end(), lacks_prefix);
  }

  const ElementChoice* FindElementChoice(std::string_view list) const {
    if (!is_kept_) return nullptr;
    const auto found =
        std::find_if(omissions_.elements.begin(), omissions_.elements.end(),
                     [&](const ElementChoice& choice) { return choice.list == list && IsOfKind(choice.kind); });
    return found == omissions_.elements.end() ? nullptr : &*found;
  }

  // Skips the next element of a list if the choice leaves it out, and sets `is_skipped` then.
  bool SkipUnwanted(const ElementChoice& choice, bool& is_skipped) {
    const char* const begin = at_;
    const std::size_t count = count_;
    Search search{.choice = choice, .depth = depth_ + 1};
    search_ = &search;
    const bool is_read = Skip();
    search_ = nullptr;
    if (!is_read) return false;
    is_skipped = search.is_unwanted;
    if (is_skipped) return true;
    at_ = begin;
    count_ = count;
    return true;
  }

  // Reads the value that decides whether the element of SkipUnwanted() is left out.
  bool ReadSought(Search& search) {
    if (std::exchange(search.is_found, true)) return false;
    const char* const begin = at_;
    if (!Skip()) return false;
    const std::optional<std::string_view> text = Unquoted(std::string_view(begin, at_));
    const auto& wanted = search.choice.wanted;
    search.is_unwanted = text && std::find(wanted.begin(), wanted.end(), *text) == wanted.end();
    return true;
  }

  // Returns the contents of a string, or nullopt for another value and for a string with an escape.
  static std::optional<std::string_view> Unquoted(std::string_view text) {
    if (text.empty() || text.front() != '"' || text.find('\\') != std::string_view::npos) return std::nullopt;
    return text.substr(1, text.size() - 2);
  }

  bool ReadList(Value& to, std::string_view name) {
    ++at_;
    if (++depth_ > deepest_) return false;
    // At depth 1 the list is the text itself; at depth 2 it is a member of the object that is the text.
    const bool is_taken = !has_list_ && (depth_ == 1 || (depth_ == 2 && name == kItems));
    if (is_taken) {
      has_list_ = true;
      element_depth_ = depth_ + 1;
    }
    if (is_kept_) to = Value::array();
    const ElementChoice* const choice = FindElementChoice(name);
    SkipBlanks();
    if (!Take(']')) {
      do {
        SkipBlanks();
        // Omissions apply to an element of the taken list as if it were a text of its own, which has no name.
        bool is_skipped = false;
        if (choice != nullptr && !SkipUnwanted(*choice, is_skipped)) return false;
        if (is_skipped) {
          SkipBlanks();
          continue;
        }
        if (is_taken) kind_.clear();
        Value element;
        if (!ReadValue(element, is_taken ? std::string_view() : name)) return false;
        if (is_taken && !take_(std::move(element))) return false;
        if (!is_taken && is_kept_) to.push_back(std::move(element));
        SkipBlanks();
      } while (Take(','));
      if (!Take(']')) return false;
    }
    --depth_;
    return true;
  }

  // Reads a string after its opening quote.
  bool ReadString(std::string& to) {
    ++at_;
    const char* begin = at_;
    while (true) {
      SkipPlain();
      if (at_ == end_) return false;
      const auto c = static_cast<unsigned char>(*at_);
      if (c == '"') {
        if (is_kept_) Append(to, begin);
        ++at_;
        return true;
      }
      if (c < 0x20) return false;
      if (c == '\\') {
        if (is_kept_) Append(to, begin);
        if (!ReadEscape(to)) return false;
        begin = at_;
        continue;
      }
      if (!SkipCharacter()) return false;
    }
  }

  // Appends the characters from `begin` on.
  void Append(std::string& to, const char* begin) const {
    // Making a new string costs less than appending, which takes more memory than the string needs.
    if (to.empty()) {
      to = std::string(begin, at_);
    } else {
      to.append(begin, at_);
    }
  }

  // Skips characters that stand for themselves and are ASCII.
  void SkipPlain() {
    while (end_ - at_ >= 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, at_, sizeof word);
      if (const std::uint64_t ends = EndsOfRun(word); ends != 0) {
        at_ += BytesBefore(ends);
        break;
      }
      at_ += sizeof word;
    }
    while (at_ != end_) {
      const auto c = static_cast<unsigned char>(*at_);
      if (c < 0x20 || c >= 0x80 || c == '"' || c == '\\') return;
      ++at_;
    }
  }

  // Skips one character that is not ASCII.
  bool SkipCharacter() {
    const Utf8Character first = FirstUtf8Character(std::string_view(at_, static_cast<std::size_t>(end_ - at_)));
    at_ += first.length;
    return first.is_valid;
  }

  bool ReadEscape(std::string& to) {
    ++at_;
    if (at_ == end_) return false;
    constexpr std::string_view kNames = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    const char name = *at_++;
    if (name == 'u') return ReadUnicodeEscape(to);
    const std::size_t index = kNames.find(name);
    if (index == std::string_view::npos) return false;
    if (is_kept_) to += kMeanings[index];
    return true;
  }

  bool ReadHex(std::uint32_t& to) {
    if (end_ - at_ < 4) return false;
    const auto [end, error] = std::from_chars(at_, at_ + 4, to, 16);
    if (error != std::errc() || end != at_ + 4) return false;
    at_ += 4;
    return true;
  }

  bool ReadUnicodeEscape(std::string& to) {
    std::uint32_t code = 0;
    if (!ReadHex(code)) return false;
    if (code >= 0xdc00 && code <= 0xdfff) return false;
    if (code >= 0xd800 && code <= 0xdbff) {
      std::uint32_t low = 0;
      if (!TakeWord("\\u") || !ReadHex(low) || low < 0xdc00 || low > 0xdfff) return false;
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    if (is_kept_) AppendUtf8(code, to);
    return true;
  }

  bool ReadNumber(Value& to) {
    const char* const begin = at_;
    const bool is_negative = Take('-');
    if (at_ == end_ || !IsDigit(*at_)) return false;
    const bool begins_with_zero = *at_ == '0';
    const char* const digits = at_;
    while (at_ != end_ && IsDigit(*at_)) ++at_;
    if (begins_with_zero && at_ - digits > 1) return false;
    if (at_ != end_ && (*at_ == '.' || *at_ == 'e' || *at_ == 'E')) return ReadReal(begin, to);
    if (is_negative) return Convert<std::int64_t>(begin, to);
    return Convert<std::uint64_t>(begin, to);
  }

  bool ReadReal(const char* begin, Value& to) {
    if (Take('.') && !SkipDigits()) return false;
    if (at_ != end_ && (*at_ == 'e' || *at_ == 'E')) {
      ++at_;
      if (at_ != end_ && (*at_ == '+' || *at_ == '-')) ++at_;
      if (!SkipDigits()) return false;
    }
    return Convert<double>(begin, to);
  }

  bool SkipDigits() {
    const char* const begin = at_;
    while (at_ != end_ && IsDigit(*at_)) ++at_;
    return at_ != begin;
  }

  // Converts the characters from `begin` on.  A number out of range is not converted.
  template <typename Number>
  bool Convert(const char* begin, Value& to) {
    Number number = 0;
    const auto [end, error] = std::from_chars(begin, at_, number);
    if (error != std::errc() || end != at_) return false;
    to = number;
    return true;
  }

  const char* at_;
  const char* const end_;
  const Omissions& omissions_;
  const std::size_t deepest_;
  const std::size_t most_values_;
  const TakeElement& take_;
  bool has_list_ = false;          // Whether the list with the elements has begun.
  bool is_kept_ = true;            // Whether what is read becomes a part of the result.
  std::size_t element_depth_ = 0;  // The depth of the elements of that list.
  std::string kind_;               // The member `kind` of the present element; empty before it has been read.
  Search* search_ = nullptr;       // The search of SkipUnwanted() that is under way.
  std::size_t depth_ = 0;
  std::size_t count_ = 0;
};

}  // namespace

std::optional<Value> ReadList(std::string_view text, const Omissions& omissions, const TakeElement& take,
                              const ParseLimits& limits) {
  if (text.size() > limits.bytes) return std::nullopt;
  return Reader(text, omissions, limits, take).Read();
}

}  // namespace pintle::json
