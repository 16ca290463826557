// SPDX-License-Identifier: Apache-2.0
#include "json/list_reader.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/utf8.h"
#include "json/byte_runs.h"

namespace pintle::json {
namespace {

constexpr std::string_view kItems = "items";
constexpr std::string_view kKindKey = "kind";
// Deeper values are left to Parse(), which does not recurse.
constexpr std::size_t kDeepest = 64;

// A step that fails with fewer bytes than these left in the window may have failed because the text goes on behind the
// window.  No token that is looked at as a whole is longer; the longest is the escape of a character above U+FFFF.
constexpr std::ptrdiff_t kLongestToken = 16;

// The part of a text that is in memory.
class Window {
 public:
  // A window on the whole text.
  explicit Window(std::string_view text) : begin_(text.data()), end_(text.data() + text.size()), is_last_(true) {}

  // A window that moves over a text as it is read.
  Window(const ReadPiece& read, std::size_t size, std::size_t most_bytes)
      : read_(&read),
        most_bytes_(most_bytes),
        capacity_(size),
        buffer_(std::make_unique_for_overwrite<char[]>(size)),
        begin_(buffer_.get()),
        end_(begin_) {}

  const char* begin() const { return begin_; }
  const char* end() const { return end_; }
  // Returns whether the window ends where the text ends.
  bool is_last() const { return is_last_; }

  // Reads more text, after dropping the text before `kept`.  The kept text is then at begin().  Returns false if there
  // is an error, or if the text exceeds its limit.
  bool ReadMore(const char* kept) {
    const auto size = static_cast<std::size_t>(end_ - kept);
    if (size == capacity_) {
      capacity_ *= 2;
      auto larger = std::make_unique_for_overwrite<char[]>(capacity_);
      std::memcpy(larger.get(), kept, size);
      buffer_ = std::move(larger);
    } else {
      std::memmove(buffer_.get(), kept, size);
    }
    begin_ = buffer_.get();
    end_ = begin_ + size;
    // A step that does not fit is repeated, so the window is filled even if a pipe has only a few bytes at a time.
    for (std::size_t free = capacity_ - size; free > 0;) {
      const std::optional<std::size_t> count = (*read_)({buffer_.get() + (capacity_ - free), free});
      if (!count) return false;
      if (*count == 0) {
        is_last_ = true;
        return true;
      }
      free -= *count;
      end_ += *count;
      bytes_ += *count;
      if (bytes_ > most_bytes_) return false;
    }
    return true;
  }

 private:
  const ReadPiece* read_ = nullptr;
  std::size_t most_bytes_ = 0;
  std::size_t bytes_ = 0;  // How much of the text has been read.
  std::size_t capacity_ = 0;
  std::unique_ptr<char[]> buffer_;
  const char* begin_;
  const char* end_;
  bool is_last_ = false;
};

// The omissions of members of the objects `name`.
struct Parent {
  std::string_view name;
  std::vector<const Omission*> members = {};
  std::vector<const PrefixChoice*> prefixes = {};
};

// The omissions for the elements of one kind.
struct KindOmissions {
  std::string_view kind;
  std::vector<Parent> parents;
};

std::vector<Parent> ParentsIn(const Omissions& omissions, std::string_view kind) {
  std::vector<Parent> parents;
  const auto is_for = [&](std::string_view of) { return of.empty() || of == kind; };
  const auto parent_named = [&](std::string_view name) -> Parent& {
    const auto found =
        std::find_if(parents.begin(), parents.end(), [&](const Parent& parent) { return parent.name == name; });
    return found == parents.end() ? parents.emplace_back(Parent{.name = name}) : *found;
  };
  for (const Omission& each : omissions.members) {
    if (is_for(each.kind)) parent_named(each.parent).members.push_back(&each);
  }
  for (const PrefixChoice& each : omissions.prefixes) {
    if (is_for(each.kind)) parent_named(each.parent).prefixes.push_back(&each);
  }
  return parents;
}

// Returns the omissions for all other kinds first.
std::vector<KindOmissions> KindsIn(const Omissions& omissions) {
  std::vector<KindOmissions> kinds = {{"", ParentsIn(omissions, "")}};
  const auto add = [&](std::string_view kind) {
    const bool is_known = std::any_of(kinds.begin(), kinds.end(), [&](const auto& each) { return each.kind == kind; });
    if (!is_known) kinds.push_back({kind, ParentsIn(omissions, kind)});
  };
  for (const Omission& each : omissions.members) add(each.kind);
  for (const PrefixChoice& each : omissions.prefixes) add(each.kind);
  return kinds;
}

// Reads one text.  A function that returns false has found something that Parse() has to judge, or the end of the
// window.
class Reader {
 public:
  Reader(Window window, const Omissions& omissions, const ParseLimits& limits, const TakeElement& take,
         std::span<const DirectKind> direct)
      : window_(std::move(window)),
        at_(window_.begin()),
        end_(window_.end()),
        omissions_(omissions),
        kinds_(KindsIn(omissions)),
        deepest_(std::min(kDeepest, limits.depth)),
        most_values_(limits.values),
        take_(take),
        direct_(direct) {}

  std::optional<Value> Read() {
    Value frame;
    const bool is_read = ReadStep([&] { return BeginFrame(frame); }) &&
                         (frame.is_array() ? ReadElements() : ReadFrameMembers(frame.members()));
    if (!is_read || !has_list_ || !ReadStep([] { return true; })) return std::nullopt;
    return at_ == end_ ? std::optional(std::move(frame)) : std::nullopt;
  }

 private:
  // Skips blanks and carries out a step.  If the window ends within the step or right behind it, the step is repeated
  // with more text: behind a number, for example, there may be another digit.
  template <typename Step>
  bool ReadStep(Step&& step) {
    while (true) {
      const std::size_t count = count_;
      const std::size_t depth = depth_;
      SkipBlanks();
      const char* const begin = at_;
      const bool is_done = step();
      if (is_done && (at_ != end_ || window_.is_last())) return true;
      if (window_.is_last() || end_ - at_ >= kLongestToken) return false;
      if (!window_.ReadMore(begin)) return false;
      at_ = window_.begin();
      end_ = window_.end();
      count_ = count;
      depth_ = depth;
    }
  }

  // Carries out `read_next` for each element or member of the list or object that has begun, and reads its end.
  template <typename ReadNext>
  bool ReadSequence(char end, ReadNext&& read_next) {
    bool is_over = false;
    const auto take_end = [&] {
      is_over = Take(end);
      return true;
    };
    const auto take_end_or_comma = [&] { return (is_over = Take(end)) || Take(','); };
    if (!ReadStep(take_end)) return false;
    while (!is_over) {
      if (!read_next() || !ReadStep(take_end_or_comma)) return false;
    }
    --depth_;
    return true;
  }

  // Reads the beginning of the list, or of the object that has the list.
  bool BeginFrame(Value& frame) {
    if (at_ == end_ || ++count_ > most_values_ || ++depth_ > deepest_) return false;
    const bool is_list = *at_ == '[';
    frame = is_list ? Value::array() : Value::object();
    return Take(is_list ? '[' : '{');
  }

  bool ReadFrameMembers(Value::Object& members) {
    return ReadSequence('}', [&] { return ReadFrameMember(members); });
  }

  bool ReadFrameMember(Value::Object& members) {
    std::string key;
    bool is_taken = false;
    const bool has_begun = ReadStep([&] {
      std::string_view name;
      if (!ReadKey(name)) return false;
      key = name;
      is_taken = key == kItems && !has_list_ && Take('[');
      return true;
    });
    const auto added = members.emplace(key, Value());
    const auto member = added.first;
    if (!has_begun || !added.second) return false;
    if (!is_taken) return ReadStep([&] { return ReadValue(member->second, member->first); });
    member->second = Value::array();
    return ++count_ <= most_values_ && ++depth_ <= deepest_ && ReadElements();
  }

  // Passes on the elements of the list that has begun.
  bool ReadElements() {
    has_list_ = true;
    element_depth_ = depth_ + 1;
    const ElementChoice* const choice = FindElementChoice(depth_ == 1 ? std::string_view() : kItems);
    const bool are_read = ReadSequence(']', [&] { return ReadElement(choice); });
    element_depth_ = 0;
    SetKind("");
    return are_read;
  }

  bool ReadElement(const ElementChoice* choice) {
    Value element;
    const DirectKind* direct = nullptr;
    bool is_skipped = false;
    const bool is_read = ReadStep([&] {
      SetKind("");
      element = Value();
      direct = nullptr;
      if (choice != nullptr && !SkipUnwanted(*choice, is_skipped)) return false;
      // Omissions apply to an element of the taken list as if it were a text of its own, which has no name.
      if (is_skipped) return true;
      direct = FindDirectKind();
      return direct == nullptr ? ReadValue(element, "") : ReadInto(direct->shape, direct->begin(), "");
    });
    if (!is_read || is_skipped) return is_read;
    return direct == nullptr ? take_(std::move(element)) : direct->take();
  }

  // Looks for the kind of the next element.  Returns nullptr unless elements of this kind are read into an object.
  const DirectKind* FindDirectKind() {
    if (direct_.empty() || at_ == end_ || *at_ != '{') return nullptr;
    const char* const begin = at_;
    const std::size_t count = count_;
    const std::size_t depth = depth_;
    ++at_;
    const DirectKind* found = nullptr;
    for (int member = 0; member < 3; ++member) {
      std::string_view key;
      SkipBlanks();
      if (!ReadKey(key)) break;
      if (key == kKindKey) {
        found = ReadDirectKind();
        break;
      }
      if (!Skip()) break;
      SkipBlanks();
      if (!Take(',')) break;
    }
    at_ = begin;
    count_ = count;
    depth_ = depth;
    return found;
  }

  const DirectKind* ReadDirectKind() {
    std::string_view kind;
    if (at_ == end_ || *at_ != '"' || !ReadString(kind)) return nullptr;
    const auto found =
        std::find_if(direct_.begin(), direct_.end(), [&](const DirectKind& each) { return each.kind == kind; });
    if (found == direct_.end()) return nullptr;
    SetKind(kind);
    return &*found;
  }

  // Reads a value into the object `to`, which is the member `name` of another one, or an element of such a member.
  bool ReadInto(const Shape& shape, void* to, std::string_view name) {
    switch (shape.type) {
      case Shape::Type::kText:
        return ReadText(*static_cast<std::string*>(to));
      case Shape::Type::kTexts:
        return ReadTexts(*static_cast<std::map<std::string, std::string>*>(to), name);
      case Shape::Type::kObject:
        return ReadMembersInto(shape, static_cast<char*>(to), name);
      case Shape::Type::kList:
        return ReadElementsInto(shape, to, name);
      case Shape::Type::kOptional:
        return ReadInto(*shape.inner, shape.add(to), name);
      case Shape::Type::kOther:
        break;
    }
    Value value;
    if (!ReadValue(value, name)) return false;
    Report report;
    shape.decode(std::move(value), to, Path(), report);
    return !report.has_errors();
  }

  // Counts the next value, and returns whether it begins with this character.
  bool Begins(char c) { return at_ != end_ && *at_ == c && ++count_ <= most_values_; }

  bool ReadText(std::string& to) {
    std::string_view text;
    if (!Begins('"') || !ReadString(text)) return false;
    to = text;
    return true;
  }

  bool ReadTexts(std::map<std::string, std::string>& to, std::string_view name) {
    if (!Begins('{')) return false;
    const Parent* const parent = FindParent(name);
    return ReadAll('}', [&] {
      std::string_view key;
      if (!ReadKey(key)) return false;
      if (parent != nullptr && IsOmitted(*parent, key)) return Skip();
      const std::size_t before = to.size();
      const auto text = to.emplace_hint(to.end(), key, std::string());
      return to.size() != before && ReadText(text->second);
    });
  }

  bool ReadMembersInto(const Shape& shape, char* to, std::string_view name) {
    if (!Begins('{')) return false;
    const Parent* const parent = FindParent(name);
    std::uint64_t seen = 0;  // The bit i is set if the member i of the shape has been read.
    return ReadAll('}', [&] {
      std::string_view key;
      if (!ReadKey(key)) return false;
      if (depth_ == element_depth_ && key == kItems) return false;
      if (parent != nullptr && IsOmitted(*parent, key)) return Skip();
      const auto member = std::find_if(shape.members.begin(), shape.members.end(),
                                       [&](const Shape::Member& each) { return each.name == key; });
      if (member == shape.members.end()) return Skip();
      const std::uint64_t bit = std::uint64_t{1} << (member - shape.members.begin());
      if ((seen & bit) != 0) return false;
      seen |= bit;
      // A member that is null counts as missing.
      if (at_ != end_ && *at_ == 'n') return Skip();
      return ReadInto(*member->shape, to + member->offset, member->name);
    });
  }

  bool ReadElementsInto(const Shape& shape, void* to, std::string_view name) {
    if (!Begins('[')) return false;
    const ElementChoice* const choice = FindElementChoice(name);
    return ReadAll(']', [&] {
      bool is_skipped = false;
      if (choice != nullptr && !SkipUnwanted(*choice, is_skipped)) return false;
      return is_skipped || ReadInto(*shape.inner, shape.add(to), name);
    });
  }

  void SkipBlanks() {
    // Mostly there are none, or there is one.
    if (at_ != end_ && static_cast<unsigned char>(*at_) > ' ') return;
    SkipRunOfBlanks();
  }

  // If this were inline, SkipBlanks() would be too large to be inline.
  [[gnu::noinline]] void SkipRunOfBlanks() { at_ = SkipBlankBytes(at_, end_); }

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

  // Carries out `read_next` for each element or member of a list or object, whose opening bracket comes next.
  template <typename ReadNext>
  bool ReadAll(char end, ReadNext&& read_next) {
    ++at_;
    if (++depth_ > deepest_) return false;
    SkipBlanks();
    if (!Take(end)) {
      do {
        SkipBlanks();
        if (!read_next()) return false;
        SkipBlanks();
      } while (Take(','));
      if (!Take(end)) return false;
    }
    --depth_;
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
        std::string_view text;
        if (!ReadString(text)) return false;
        to = Value(text);
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
    to = Value::object();
    const Parent* const parent = FindParent(name);
    return ReadAll('}', [&] { return ReadMember(to.members(), parent); });
  }

  // Reads a member of an object of which `parent` leaves members out, unless it is null.
  bool ReadMember(Value::Object& members, const Parent* parent) {
    std::string_view key;
    if (!ReadKey(key)) return false;
    // If the same key has come before with a value that is kept, it is there twice.
    if (parent != nullptr && IsOmitted(*parent, key)) return members.find(key) == members.end() && Skip();
    const std::size_t before = members.size();
    // Programs usually write the keys in their order.
    const auto member = members.emplace_hint(members.end(), key, Value());
    if (members.size() == before) return false;
    if (!ReadValue(member->second, member->first)) return false;
    const bool is_kind = depth_ == element_depth_ && member->first == kKindKey && member->second.is_string();
    if (is_kind) SetKind(member->second.text());
    return true;
  }

  // Reads a key and what is between the key and its value.  The key is valid until the next string is read.
  bool ReadKey(std::string_view& key) {
    if (at_ == end_ || *at_ != '"' || !ReadString(key)) return false;
    return SkipColon();
  }

  // Skips what is between a key and its value.
  bool SkipColon() {
    SkipBlanks();
    if (!Take(':')) return false;
    SkipBlanks();
    return true;
  }

  bool ReadList(Value& to, std::string_view name) {
    to = Value::array();
    const ElementChoice* const choice = FindElementChoice(name);
    return ReadAll(']', [&] {
      bool is_skipped = false;
      if (choice != nullptr && !SkipUnwanted(*choice, is_skipped)) return false;
      return is_skipped || ReadValue(to.push_back(Value()), name);
    });
  }

  // Checks a value without making it.
  bool Skip() {
    if (at_ == end_ || ++count_ > most_values_) return false;
    switch (*at_) {
      case '{':
        return ReadAll('}', [&] { return SkipKey() && SkipColon() && Skip(); });
      case '[':
        return ReadAll(']', [&] { return Skip(); });
      case '"':
        return SkipString();
      case 't':
        return TakeWord("true");
      case 'f':
        return TakeWord("false");
      case 'n':
        return TakeWord("null");
      default: {
        Value number;
        return ReadNumber(number);
      }
    }
  }

  bool SkipKey() { return at_ != end_ && *at_ == '"' && SkipString(); }

  // Skips a string after its opening quote.
  bool SkipString() {
    ++at_;
    return SkipToQuote(nullptr);
  }

  void SetKind(std::string_view kind) {
    kind_ = kind;
    const auto found = std::find_if(kinds_.begin(), kinds_.end(), [&](const auto& each) { return each.kind == kind; });
    present_ = found == kinds_.end() ? &kinds_.front() : &*found;
  }

  const Parent* FindParent(std::string_view name) const {
    if (name.empty()) return nullptr;
    const auto& parents = present_->parents;
    const auto found =
        std::find_if(parents.begin(), parents.end(), [&](const Parent& parent) { return parent.name == name; });
    return found == parents.end() ? nullptr : &*found;
  }

  // Returns whether the member whose value comes next is left out.
  bool IsOmitted(const Parent& parent, std::string_view key) const {
    const bool is_string = at_ != end_ && *at_ == '"';
    const auto is_member = [&](const Omission* omission) {
      return omission->key == key && (is_string || omission->values == OmittedValues::kAll);
    };
    const auto lacks_prefix = [&](const PrefixChoice* choice) {
      return std::none_of(choice->prefixes.begin(), choice->prefixes.end(),
                          [&](std::string_view prefix) { return key.starts_with(prefix); });
    };
    return std::any_of(parent.prefixes.begin(), parent.prefixes.end(), lacks_prefix) ||
           std::any_of(parent.members.begin(), parent.members.end(), is_member);
  }

  const ElementChoice* FindElementChoice(std::string_view list) const {
    const auto found =
        std::find_if(omissions_.elements.begin(), omissions_.elements.end(), [&](const ElementChoice& choice) {
          return choice.list == list && (choice.kind.empty() || choice.kind == kind_);
        });
    return found == omissions_.elements.end() ? nullptr : &*found;
  }

  // Skips the next element of a list if the choice leaves it out, and sets `is_skipped` then.
  bool SkipUnwanted(const ElementChoice& choice, bool& is_skipped) {
    is_skipped = false;
    if (at_ == end_ || *at_ != '{') return true;
    const char* const begin = at_;
    const std::size_t count = count_++;
    const std::size_t depth = depth_;
    bool is_wanted = false;
    bool is_found = false;
    const bool is_read = ReadAll('}', [&] {
      const char* const key = at_;
      if (!SkipKey()) return false;
      // A key with an escape is not sought.
      const bool is_sought = std::string_view(key + 1, at_ - 1) == choice.key;
      if (!SkipColon()) return false;
      if (!is_sought) return Skip();
      const char* const value = at_;
      if (std::exchange(is_found, true) || !Skip()) return false;
      const std::optional<std::string_view> text = Unquoted(std::string_view(value, at_));
      is_wanted = !text || std::find(choice.wanted.begin(), choice.wanted.end(), *text) != choice.wanted.end();
      return !is_wanted;
    });
    if (is_read && is_found) return is_skipped = true;
    if (!is_read && !is_wanted) return false;
    at_ = begin;
    count_ = count;
    depth_ = depth;
    return true;
  }

  // Returns the contents of a string, or nullopt for another value and for a string with an escape.
  static std::optional<std::string_view> Unquoted(std::string_view text) {
    if (text.empty() || text.front() != '"' || text.find('\\') != std::string_view::npos) return std::nullopt;
    return text.substr(1, text.size() - 2);
  }

  // Reads a string after its opening quote.  The text is valid until the next string is read.
  bool ReadString(std::string_view& to) {
    ++at_;
    const char* const begin = at_;
    at_ = SkipPlainBytes(at_, end_);
    if (at_ != end_ && *at_ == '"') {
      to = std::string_view(begin, at_);
      ++at_;
      return true;
    }
    unescaped_.assign(begin, at_);
    if (!SkipToQuote(&unescaped_)) return false;
    to = unescaped_;
    return true;
  }

  // Skips the rest of a string, and appends its characters to `to` unless it is null.
  bool SkipToQuote(std::string* to) {
    while (true) {
      const char* const begin = at_;
      at_ = SkipPlainBytes(at_, end_);
      if (to != nullptr) to->append(begin, at_);
      if (at_ == end_) return false;
      if (Take('"')) return true;
      if (*at_ == '\\' ? !ReadEscape(to) : !ReadCharacter(to)) return false;
    }
  }

  // Reads one character that is not ASCII.
  bool ReadCharacter(std::string* to) {
    const char* const begin = at_;
    if (static_cast<unsigned char>(*at_) < 0x20) return false;
    const Utf8Character first = FirstUtf8Character(std::string_view(at_, static_cast<std::size_t>(end_ - at_)));
    at_ += first.length;
    if (to != nullptr) to->append(begin, at_);
    return first.is_valid;
  }

  bool ReadEscape(std::string* to) {
    ++at_;
    if (at_ == end_) return false;
    constexpr std::string_view kNames = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    const char name = *at_++;
    if (name == 'u') return ReadUnicodeEscape(to);
    const std::size_t index = kNames.find(name);
    if (index == std::string_view::npos) return false;
    if (to != nullptr) *to += kMeanings[index];
    return true;
  }

  bool ReadHex(std::uint32_t& to) {
    if (end_ - at_ < 4) return false;
    const auto [end, error] = std::from_chars(at_, at_ + 4, to, 16);
    if (error != std::errc() || end != at_ + 4) return false;
    at_ += 4;
    return true;
  }

  bool ReadUnicodeEscape(std::string* to) {
    std::uint32_t code = 0;
    if (!ReadHex(code)) return false;
    if (code >= 0xdc00 && code <= 0xdfff) return false;
    if (code >= 0xd800 && code <= 0xdbff) {
      std::uint32_t low = 0;
      if (!TakeWord("\\u") || !ReadHex(low) || low < 0xdc00 || low > 0xdfff) return false;
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    if (to != nullptr) AppendUtf8(code, *to);
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

  Window window_;
  const char* at_;
  const char* end_;  // The end of the window.
  const Omissions& omissions_;
  const std::vector<KindOmissions> kinds_;
  const KindOmissions* present_ = &kinds_.front();  // Those for kind_.
  const std::size_t deepest_;
  const std::size_t most_values_;
  const TakeElement& take_;
  const std::span<const DirectKind> direct_;
  bool has_list_ = false;          // Whether the list with the elements has begun.
  std::size_t element_depth_ = 0;  // The depth of the elements of that list; 0 outside of it.
  std::string kind_;               // The member `kind` of the present element; empty before it has been read.
  std::string unescaped_;          // The last string that was not plain ASCII.
  std::size_t depth_ = 0;
  std::size_t count_ = 0;
};

}  // namespace

std::optional<Value> ReadList(std::string_view text, const Omissions& omissions, const TakeElement& take,
                              const ParseLimits& limits) {
  if (text.size() > limits.bytes) return std::nullopt;
  return Reader(Window(text), omissions, limits, take, {}).Read();
}

std::optional<Value> ReadList(const ReadPiece& read, const Omissions& omissions, const TakeElement& take,
                              const ParseLimits& limits, std::size_t window, std::span<const DirectKind> direct) {
  return Reader(Window(read, window, limits.bytes), omissions, limits, take, direct).Read();
}

}  // namespace pintle::json
