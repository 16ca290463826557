// SPDX-License-Identifier: Apache-2.0
#include "json/parse.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>

namespace pintle::json {
namespace {

// Translates an offset into the position that an editor displays.
std::string LineAndColumn(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t line_start = before.rfind('\n') + 1;  // If there is no line feed, npos + 1 is 0.
  return fmt::format("line {}, column {}", line, before.size() - line_start + 1);
}

// Returns the library's description of a syntax error, without its prefix and position, because we report the position
// in our own form.  The text that could not be parsed is also left out, because it may be a secret.  An error without
// the usual prefix is about a number.
std::string Cause(std::string_view description) {
  constexpr std::string_view kBeforeCause = "syntax error ";
  const std::size_t begin = description.find(kBeforeCause);
  if (begin == std::string_view::npos) return "a number is out of range";
  description.remove_prefix(begin);
  return std::string(description.substr(0, description.find("; last read: ")));
}

// Builds a value from the events of nlohmann's SAX parser, which calls the functions from null() to parse_error().  The
// parser does not recurse, so parsing deeply nested values takes no more stack.  Only the report of a duplicate key
// recurses.
class Builder {
 public:
  Builder(Report* report, const ParseLimits& limits) : report_(report), limits_(limits) {}

  Value TakeValue() { return std::move(root_); }
  const std::string& problem() const { return problem_; }
  std::size_t problem_offset() const { return problem_offset_; }

  bool null() { return Add(nullptr); }
  bool boolean(bool value) { return Add(value); }
  bool number_integer(std::int64_t value) { return Add(value); }
  bool number_unsigned(std::uint64_t value) { return Add(value); }
  bool number_float(double value, const std::string& /*text*/) {
    if (!std::isfinite(value)) return Fail("a number is out of range");
    return Add(value);
  }
  bool string(std::string& value) { return Add(std::move(value)); }
  bool binary(nlohmann::json::binary_t&) { return Fail("binary values are not JSON"); }

  bool start_object(std::size_t) { return Enter(Value::object()); }
  bool start_array(std::size_t) { return Enter(Value::array()); }
  bool end_object() { return Leave(); }
  bool end_array() { return Leave(); }

  bool key(std::string& name) {
    Level& level = levels_.back();
    const auto [member, is_new] = level.value->members().insert_or_assign(std::move(name), Value(nullptr));
    if (!is_new && report_ != nullptr && level.repeated.insert(member->first).second) ReportDuplicate(member->first);
    level.key = &member->first;
    level.slot = &member->second;
    return true;
  }

  bool parse_error(std::size_t offset, const std::string& /*last_token*/, const nlohmann::json::exception& error) {
    // The offset is the number of bytes read, so the wrong byte is the one before it.
    problem_offset_ = offset > 0 ? offset - 1 : 0;
    problem_ = Cause(error.what());
    return false;
  }

 private:
  // A list or an object that is being filled.
  struct Level {
    Value* value;
    Value* slot = nullptr;                // The place for the value of the key just read; null in a list.
    const std::string* key = nullptr;     // The key just read.
    std::set<std::string> repeated = {};  // The keys whose repetition has been reported.
  };

  bool Fail(std::string problem) {
    problem_ = std::move(problem);
    return false;
  }

  // Stores a value in the innermost list or object, and returns its address there.
  Value* Store(Value&& value) {
    ++count_;
    if (levels_.empty()) return &(root_ = std::move(value));
    Level& level = levels_.back();
    if (level.slot != nullptr) return &(*level.slot = std::move(value));
    return &level.value->push_back(std::move(value));
  }

  bool Add(Value value) {
    if (count_ == limits_.values) return Fail(fmt::format("more than {} values", limits_.values));
    Store(std::move(value));
    return true;
  }

  bool Enter(Value value) {
    if (levels_.size() >= limits_.depth) {
      return Fail(fmt::format("nested more than {} levels deep", limits_.depth));
    }
    if (count_ == limits_.values) return Fail(fmt::format("more than {} values", limits_.values));
    levels_.push_back({Store(std::move(value))});
    return true;
  }

  bool Leave() {
    levels_.pop_back();
    return true;
  }

  void ReportDuplicate(const std::string& name) { ReportBelow(Path(), 0, name); }

  // Reports the duplicate key `name`; `path` leads to the value at this depth.  A Path refers to the Path of the level
  // above it, which has to stay on the stack, so the function calls itself for each level.
  void ReportBelow(const Path& path, std::size_t depth, const std::string& name) {
    if (depth + 1 == levels_.size()) {
      report_->Warning(Path(path, name), "occurs more than once in its object; the last value is used");
      return;
    }
    const Level& level = levels_[depth];
    if (level.key != nullptr) return ReportBelow(Path(path, *level.key), depth + 1, name);
    return ReportBelow(Path(path, level.value->size() - 1), depth + 1, name);
  }

  Report* report_;
  const ParseLimits& limits_;
  Value root_;
  std::vector<Level> levels_;
  std::size_t count_ = 0;
  std::string problem_;
  std::size_t problem_offset_ = 0;
};

}  // namespace

Result<Value> Parse(std::string_view text, Report* report, const ParseLimits& limits) {
  if (text.size() > limits.bytes) {
    return Error(ErrorKind::kInvalid,
                 fmt::format("JSON of {} bytes, longer than the limit of {}", text.size(), limits.bytes));
  }
  Builder builder(report, limits);
  if (nlohmann::json::sax_parse(text.begin(), text.end(), &builder)) {
    // The library takes a zero byte for the end of the text, even if more text follows.
    const std::size_t zero = text.find('\0');
    if (zero == std::string_view::npos) return builder.TakeValue();
    return Error(ErrorKind::kInvalid, fmt::format("not JSON: {}: a zero byte", LineAndColumn(text, zero)));
  }
  // Only errors of syntax have an offset; too many values, for example, have none.
  if (builder.problem_offset() == 0) return Error(ErrorKind::kInvalid, "not JSON: " + builder.problem());
  return Error(ErrorKind::kInvalid,
               fmt::format("not JSON: {}: {}", LineAndColumn(text, builder.problem_offset()), builder.problem()));
}

}  // namespace pintle::json
