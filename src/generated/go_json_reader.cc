// SPDX-License-Identifier: Apache-2.0
#include "generated/go_json_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <utility>

#include "gotemplate/float_text.h"

namespace pintle::generated {
namespace {

bool IsSameName(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

std::string_view WithoutPackage(std::string_view type) {
  type.remove_prefix(type.rfind('.') + 1);
  return type;
}

// What an error calls the value.
std::string Described(const json::Value& value) {
  switch (value.type()) {
    case json::Value::Type::kBoolean:
      return "bool";
    case json::Value::Type::kString:
      return "string";
    case json::Value::Type::kArray:
      return "array";
    case json::Value::Type::kObject:
      return "object";
    default:
      return "number " + GoNumber(value);
  }
}

std::optional<std::int64_t> WholeNumber(const json::Value& value) {
  if (!value.is_number()) return std::nullopt;
  if (value.is_unsigned()) {
    constexpr auto kLargest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (value.unsigned_integer() > kLargest) return std::nullopt;
    return value.integer();
  }
  if (value.is_integer()) return value.integer();
  // Go writes a fraction without a point where it can, and reads that.
  const double real = value.real();
  if (std::trunc(real) != real || std::abs(real) >= 0x1p63) return std::nullopt;
  return static_cast<std::int64_t>(real);
}

// What YAML has as a number or a truth, and is wanted as a text.
std::optional<std::string> AsText(const json::Value& value) {
  switch (value.type()) {
    case json::Value::Type::kString:
      return value.text();
    case json::Value::Type::kBoolean:
      return value.boolean() ? "true" : "false";
    case json::Value::Type::kInteger:
      return std::to_string(value.integer());
    case json::Value::Type::kUnsigned:
      return std::to_string(value.unsigned_integer());
    case json::Value::Type::kReal:
      return gotemplate::FloatText(value.real(), 'g', gotemplate::kShortest, 64);
    default:
      return std::nullopt;
  }
}

}  // namespace

std::string GoNumber(const json::Value& number) {
  if (number.type() != json::Value::Type::kReal) {
    return number.is_unsigned() ? std::to_string(number.unsigned_integer()) : std::to_string(number.integer());
  }
  const double size = std::abs(number.real());
  const bool is_fixed = size == 0 || (size >= 1e-6 && size < 1e21);
  std::string text = gotemplate::FloatText(number.real(), is_fixed ? 'f' : 'e', gotemplate::kShortest, 64);
  // 1e-09 is written as 1e-9.
  if (const std::size_t at = text.find("e-0"); at != std::string::npos) text.erase(at + 2, 1);
  return text;
}

void GoJsonReader::ReadStruct(const json::Value& value, std::string_view type, const std::vector<Field>& fields) {
  if (value.is_null()) return;
  if (!value.is_object()) return Fail(value, type);
  const std::string_view outer = std::exchange(struct_, WithoutPackage(type));
  for (const auto& entry : value.members()) {
    const auto field = std::find_if(fields.begin(), fields.end(),
                                    [&](const Field& candidate) { return IsSameName(candidate.name, entry.first); });
    if (field == fields.end()) continue;
    path_.push_back(field->name);
    struct_ = WithoutPackage(type);
    field->read(entry.second);
    path_.pop_back();
  }
  struct_ = outer;
}

void GoJsonReader::Fail(const json::Value& value, std::string_view wanted) {
  if (error_) return;
  std::string what = Described(value);
  // The kind of a value that is no struct is all that is told of it.
  if (path_.empty()) {
    if (value.is_number()) what = "number";
    error_ = fmt::format("json: cannot unmarshal {} into Go value of type {}", what, wanted);
    return;
  }
  std::string place(struct_);
  for (const std::string_view name : path_) place += "." + std::string(name);
  if (value.is_number() && wanted != "int") what = "number";
  error_ = fmt::format("json: cannot unmarshal {} into Go struct field {} of type {}", what, place, wanted);
}

void GoJsonReader::Read(const json::Value& value, std::string& to) {
  if (value.is_null()) return;
  if (auto text = AsText(value)) {
    to = *std::move(text);
  } else {
    Fail(value, "string");
  }
}

void GoJsonReader::Read(const json::Value& value, std::optional<std::string>& to) {
  if (value.is_null()) return to.reset();
  if (auto text = AsText(value)) {
    to = std::move(text);
  } else {
    Fail(value, "string");
  }
}

void GoJsonReader::Read(const json::Value& value, std::optional<std::int64_t>& to) {
  if (value.is_null()) return to.reset();
  if (const auto number = WholeNumber(value)) {
    to = number;
  } else {
    Fail(value, "int");
  }
}

void GoJsonReader::Read(const json::Value& value, std::optional<bool>& to) {
  if (value.is_null()) return to.reset();
  if (value.is_boolean()) {
    to = value.boolean();
  } else {
    Fail(value, "bool");
  }
}

void GoJsonReader::ReadList(const json::Value& value, std::string_view element_type,
                            const std::function<void(const json::Value& element)>& read) {
  if (value.is_null()) return;
  if (!value.is_array()) return Fail(value, fmt::format("[]{}", element_type));
  for (const json::Value& element : value) read(element);
}

Result<> GoJsonReader::Finish() const {
  if (!error_) return {};
  return Error(ErrorKind::kInvalid, *error_);
}

}  // namespace pintle::generated
