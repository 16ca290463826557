// SPDX-License-Identifier: Apache-2.0
#include "generated/go_reading.h"

#include <fmt/core.h>

#include <cmath>
#include <cstddef>
#include <utility>
#include <variant>

#include "base/ascii.h"
#include "gotext/float_text.h"

namespace pintle::generated {
namespace {

// Writes a floating-point number as Go does in JSON: 0.000001 and 1e-7.
std::string JsonText(double number) {
  const double size = std::abs(number);
  const bool is_fixed = size == 0 || (size >= 1e-6 && size < 1e21);
  std::string text = gotext::FloatText(number, is_fixed ? 'f' : 'e', gotext::kShortest, 64);
  // FloatText() writes 1e-09, but Go's JSON has 1e-9.
  if (const std::size_t at = text.find("e-0"); at != std::string::npos) text.erase(at + 2, 1);
  return text;
}

std::string JsonText(const machineconfig::Number& number) {
  if (const double* fraction = std::get_if<double>(&number)) return JsonText(*fraction);
  return std::visit([](auto n) { return fmt::format("{}", n); }, number);
}

// Returns Go's name for a value of this kind.
std::string KindInJson(const json::Value& value) {
  if (value.is_object()) return "object";
  if (value.is_array()) return "array";
  if (value.is_string()) return "string";
  return value.is_boolean() ? "bool" : "number";
}

bool IsNonFinite(const json::Value& value) {
  return value.type() == json::Value::Type::kReal && !std::isfinite(value.real());
}

// Counts the numbers in a document that JSON cannot represent, and sets `first` to the first one.
std::size_t CountNonFinite(const json::Value& value, const json::Value*& first) {
  if (IsNonFinite(value)) {
    if (first == nullptr) first = &value;
    return 1;
  }
  std::size_t count = 0;
  if (value.is_array()) {
    for (const json::Value& element : value) count += CountNonFinite(element, first);
  } else if (value.is_object()) {
    for (const auto& [key, member] : value.members()) count += CountNonFinite(member, first);
  }
  return count;
}

std::string FieldsTo(const GoPlace* place) {
  if (place == nullptr) return "";
  std::string fields = FieldsTo(place->above);
  for (const std::string_view part : {place->embedded, place->field}) {
    if (!part.empty()) fields += (fields.empty() ? "" : ".") + std::string(part);
  }
  return fields;
}

std::string WrongTypeMessage(std::string_view found, std::string_view type, const GoPlace* place) {
  if (place == nullptr) return fmt::format("json: cannot unmarshal {} into Go value of type {}", found, type);
  std::string_view struct_name = place->struct_name;
  struct_name.remove_prefix(struct_name.find('.') + 1);
  return fmt::format("json: cannot unmarshal {} into Go struct field {}.{} of type {}", found, struct_name,
                     FieldsTo(place), type);
}

// Takes a character off the text and returns it in upper case.  As in Go, the long s counts as an S, and the sign for
// kelvin as a K.
char TakeFolded(std::string_view& text) {
  constexpr std::string_view kLongS = "\xC5\xBF";
  constexpr std::string_view kKelvin = "\xE2\x84\xAA";
  if (text.starts_with(kLongS)) return text.remove_prefix(kLongS.size()), 'S';
  if (text.starts_with(kKelvin)) return text.remove_prefix(kKelvin.size()), 'K';
  const char c = text.front();
  text.remove_prefix(1);
  return IsLower(c) ? static_cast<char>(c - 'a' + 'A') : c;
}

}  // namespace

void GoReading::ReportWrongType(const json::Value& value, std::string_view type, const GoPlace* place) {
  if (!first_error_) first_error_ = WrongTypeMessage(KindInJson(value), type, place);
}

void GoReading::ReportOutOfRange(const json::Value& value, std::string_view type, const GoPlace* place) {
  if (first_error_) return;
  const auto number = quotes_ == Quotes::kAllowed ? NumberInJson(value) : std::nullopt;
  first_error_ = WrongTypeMessage(number ? "number " + JsonText(*number) : "number", type, place);
}

void GoReading::Report(std::string message) {
  if (!first_error_) first_error_ = WithoutQuotes(std::move(message));
}

void GoReading::FailOnType(const json::Value& value, std::string_view type, const GoPlace* place) {
  if (!final_error_) final_error_ = WrongTypeMessage(KindInJson(value), type, place);
}

void GoReading::Fail(std::string message) {
  if (!final_error_) final_error_ = WithoutQuotes(std::move(message));
}

std::string GoReading::WithoutQuotes(std::string message) const {
  return quotes_ == Quotes::kAllowed ? std::move(message) : "a value cannot be decoded";
}

Result<> GoReading::CheckNumbersOf(const json::Value& document) const {
  const json::Value* first = nullptr;
  if (CountNonFinite(document, first) <= non_finite_texts_) return {};
  return Error(ErrorKind::kInvalid, "json: unsupported value: " + machineconfig::GoNumberText(first->real()));
}

Result<> GoReading::ToResult() const {
  if (final_error_) return Error(ErrorKind::kInvalid, *final_error_);
  if (first_error_) return Error(ErrorKind::kInvalid, *first_error_);
  return {};
}

bool FoldsTo(std::string_view key, std::string_view field) {
  while (!key.empty() && !field.empty()) {
    if (TakeFolded(key) != TakeFolded(field)) return false;
  }
  return key.empty() && field.empty();
}

std::optional<machineconfig::Number> NumberInJson(const json::Value& value) {
  switch (value.type()) {
    case json::Value::Type::kInteger:
      return value.integer();
    case json::Value::Type::kUnsigned: {
      const std::uint64_t number = value.unsigned_integer();
      if (std::in_range<std::int64_t>(number)) return static_cast<std::int64_t>(number);
      return number;
    }
    case json::Value::Type::kReal:
      return machineconfig::ThroughJson(value.real());
    default:
      return {};
  }
}

std::string WrongTypeText(const json::Value& value, std::string_view type) {
  const auto number = NumberInJson(value);
  return WrongTypeMessage(number ? "number " + JsonText(*number) : KindInJson(value), type, nullptr);
}

std::optional<std::string> AsYamlText(const json::Value& value) {
  if (value.is_boolean()) return value.boolean() ? "true" : "false";
  if (value.type() == json::Value::Type::kReal) return machineconfig::GoNumberText(value.real());
  if (const auto number = NumberInJson(value)) return JsonText(*number);
  return {};
}

}  // namespace pintle::generated
