// SPDX-License-Identifier: Apache-2.0
#include "json/value.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <ostream>
#include <utility>

#include "json/parse.h"

namespace pintle::json {
namespace {

// Ends the program unless a condition holds that the caller had to ensure, such as the type of the value.
void Expect(bool holds) {
  if (!holds) std::abort();
}

// Returns whether a value can be a member of an object: [key, value].
bool IsPair(const Value& value) { return value.is_array() && value.size() == 2 && value[0].is_string(); }

// A plain cast of a number that does not fit would be undefined.
template <typename Number>
Number NearestNumber(double real) {
  using Limits = std::numeric_limits<Number>;
  if constexpr (Limits::is_integer) {
    if (std::isnan(real)) return 0;
    if (real <= static_cast<double>(Limits::min())) return Limits::min();
    // The double is the number after the largest one.
    if (real >= static_cast<double>(Limits::max())) return Limits::max();
  }
  return static_cast<Number>(real);
}

template <typename Number>
Number NumberAs(const Value& value, std::int64_t integer, std::uint64_t unsigned_integer, double real) {
  switch (value.type()) {
    case Value::Type::kInteger:
      return static_cast<Number>(integer);
    case Value::Type::kUnsigned:
      return static_cast<Number>(unsigned_integer);
    default:
      Expect(value.type() == Value::Type::kReal);
      return NearestNumber<Number>(real);
  }
}

}  // namespace

Value::Value(const char* text) : Value(std::string(text)) {}
Value::Value(std::string_view text) : Value(std::string(text)) {}
Value::Value(std::string text) : type_(Type::kString), string_(new std::string(std::move(text))) {}
Value::Value(Array array) : type_(Type::kArray), array_(new Array(std::move(array))) {}
Value::Value(Object object) : type_(Type::kObject), object_(new Object(std::move(object))) {}

Value::Value(std::initializer_list<Element> elements) {
  if (!std::all_of(elements.begin(), elements.end(), [](const Element& each) { return IsPair(each.value_); })) {
    *this = array(elements);
    return;
  }
  *this = object();
  // If two pairs have the same key, the first one wins.
  for (const Element& pair : elements) object_->emplace(pair.value_[0].text(), pair.value_[1]);
}

// A copy of unsigned_ has all bytes of the union.
Value::Value(const Value& other) : type_(other.type_), unsigned_(other.unsigned_) {
  if (is_string()) {
    string_ = new std::string(*other.string_);
  } else if (is_array()) {
    array_ = new Array(*other.array_);
  } else if (is_object()) {
    object_ = new Object(*other.object_);
  }
}

Value Value::array(std::initializer_list<Element> elements) {
  Array values;
  values.reserve(elements.size());
  for (const Element& each : elements) values.push_back(each.value_);
  return Value(std::move(values));
}

Value Value::object() { return Value(Object()); }

void Value::Free() noexcept {
  if (is_string()) {
    delete string_;
  } else if (is_array()) {
    delete array_;
  } else {
    delete object_;
  }
}

void Value::Swap(Value& other) noexcept {
  std::swap(type_, other.type_);
  std::swap(unsigned_, other.unsigned_);
}

bool Value::boolean() const {
  Expect(is_boolean());
  return boolean_;
}

std::int64_t Value::integer() const { return NumberAs<std::int64_t>(*this, integer_, unsigned_, real_); }
std::uint64_t Value::unsigned_integer() const { return NumberAs<std::uint64_t>(*this, integer_, unsigned_, real_); }
double Value::real() const { return NumberAs<double>(*this, integer_, unsigned_, real_); }

const std::string& Value::text() const& {
  Expect(is_string());
  return *string_;
}

std::string& Value::text() & {
  Expect(is_string());
  return *string_;
}

std::string Value::text() && { return std::move(text()); }

const Value::Array& Value::elements() const& {
  Expect(is_array());
  return *array_;
}

Value::Array& Value::elements() & {
  Expect(is_array());
  return *array_;
}

Value::Array Value::elements() && { return std::move(elements()); }

const Value::Object& Value::members() const& {
  Expect(is_object());
  return *object_;
}

Value::Object& Value::members() & {
  Expect(is_object());
  return *object_;
}

Value::Object Value::members() && { return std::move(members()); }

const Value* Value::Find(std::string_view key) const {
  if (!is_object()) return nullptr;
  const auto member = object_->find(key);
  return member == object_->end() ? nullptr : &member->second;
}

Value* Value::Find(std::string_view key) { return const_cast<Value*>(std::as_const(*this).Find(key)); }

const Value* Value::Find(std::initializer_list<std::string_view> keys) const {
  const Value* found = this;
  for (const std::string_view key : keys) {
    found = found->Find(key);
    if (found == nullptr) return nullptr;
  }
  return found;
}

const std::string& Value::TextAt(std::initializer_list<std::string_view> keys) const {
  static const std::string kNone;
  const Value* found = Find(keys);
  return found != nullptr && found->is_string() ? *found->string_ : kNone;
}

Value& Value::operator[](std::string_view key) {
  if (is_null()) *this = object();
  const auto at = members().lower_bound(key);
  if (at != object_->end() && at->first == key) return at->second;
  return object_->emplace_hint(at, key, Value())->second;
}

const Value& Value::operator[](std::string_view key) const {
  static const Value kNull;
  const Value* member = Find(key);
  return member == nullptr ? kNull : *member;
}

const Value& Value::at(std::string_view key) const {
  const Value* member = Find(key);
  Expect(member != nullptr);
  return *member;
}

const Value& Value::at(std::size_t index) const {
  Expect(index < elements().size());
  return (*array_)[index];
}

bool Value::Erase(std::string_view key) {
  if (!is_object()) return false;
  const auto member = object_->find(key);
  if (member == object_->end()) return false;
  object_->erase(member);
  return true;
}

Value* Value::begin() { return is_array() ? array_->data() : nullptr; }
Value* Value::end() { return is_array() ? array_->data() + array_->size() : nullptr; }
const Value* Value::begin() const { return is_array() ? array_->data() : nullptr; }
const Value* Value::end() const { return is_array() ? array_->data() + array_->size() : nullptr; }

Value& Value::push_back(Value element) {
  if (is_null()) *this = array();
  return elements().emplace_back(std::move(element));
}

std::size_t Value::size() const {
  if (is_array()) return array_->size();
  return is_object() ? object_->size() : 0;
}

bool Value::operator==(const Value& other) const {
  if (is_number() && other.is_number()) {
    if (!is_integer() || !other.is_integer()) return real() == other.real();
    // Equal bits mean equal numbers, except that a negative number never equals an unsigned one.
    return unsigned_ == other.unsigned_ && (type_ == other.type_ || integer_ >= 0);
  }
  if (type_ != other.type_) return false;
  switch (type_) {
    case Type::kBoolean:
      return boolean_ == other.boolean_;
    case Type::kString:
      return *string_ == *other.string_;
    case Type::kArray:
      return *array_ == *other.array_;
    case Type::kObject:
      return *object_ == *other.object_;
    default:
      return true;
  }
}

void PrintTo(const Value& value, std::ostream* out) { *out << ToText(value); }

}  // namespace pintle::json
