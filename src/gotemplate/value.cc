// SPDX-License-Identifier: Apache-2.0
#include "gotemplate/value.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>

namespace pintle::gotemplate {
namespace {

std::uint32_t Length(std::size_t length) {
  assert(length <= std::numeric_limits<std::uint32_t>::max());
  return static_cast<std::uint32_t>(length);
}

bool IsKeyLess(const Value& a, const Value& b) {
  if (IsSigned(a.kind())) return a.integer() < b.integer();
  if (IsUnsigned(a.kind())) return a.unsigned_integer() < b.unsigned_integer();
  return a.text() < b.text();
}

}  // namespace

Value Value::Bool(bool value, const Type& type) {
  Value made;
  made.type_ = &type;
  made.boolean_ = value;
  return made;
}

Value Value::Integer(std::int64_t value, const Type& type) {
  Value made;
  made.type_ = &type;
  made.integer_ = value;
  return made;
}

Value Value::Unsigned(std::uint64_t value, const Type& type) {
  Value made;
  made.type_ = &type;
  made.unsigned_ = value;
  return made;
}

Value Value::Real(double value, const Type& type) {
  Value made;
  made.type_ = &type;
  made.real_ = value;
  return made;
}

Value Value::Complex(const std::complex<double>& value) {
  Value made;
  made.type_ = &kComplex128Type;
  made.complex_ = &value;
  return made;
}

Value Value::Text(std::string_view value, const Type& type) {
  Value made;
  made.type_ = &type;
  made.text_ = value.data() == nullptr ? "" : value.data();
  made.length_ = made.capacity_ = Length(value.size());
  return made;
}

Value Value::Bytes(std::string_view value, const Type& type) { return Text(value, type); }

Value Value::Sequence(const Type& type, std::span<const Value> elements) {
  static constexpr Value kNone{};
  Value made;
  made.type_ = &type;
  made.values_ = elements.data() == nullptr ? &kNone : elements.data();
  made.length_ = made.capacity_ = Length(elements.size());
  return made;
}

Value Value::Map(const Type& type, std::span<const MapEntry> entries) {
  static constexpr MapEntry kNone{};
  Value made;
  made.type_ = &type;
  made.entries_ = entries.data() == nullptr ? &kNone : entries.data();
  made.length_ = Length(entries.size());
  return made;
}

Value Value::Struct(const Type& type, const Value* fields) { return Pointer(type, fields); }

Value Value::Pointer(const Type& type, const Value* to) {
  Value made;
  made.type_ = &type;
  made.values_ = to;
  return made;
}

Value Value::Of(const Function& function, const Type& type) {
  Value made;
  made.type_ = &type;
  made.function_ = &function;
  return made;
}

Value Value::Zero(const Type& type) {
  Value made;
  if (type.kind == Kind::kInterface) return made.AsInterface();
  made.type_ = &type;
  if (type.kind == Kind::kComplex128) {
    static constexpr std::complex<double> kZero;
    made.complex_ = &kZero;
  }
  return made;
}

Value Value::AsInterface() const {
  Value made = *this;
  made.is_interface_ = true;
  made.is_addressable_ = false;
  return made;
}

bool Value::is_nil() const {
  if (is_interface_) return type_ == nullptr;
  return values_ == nullptr;  // All pointers of the union are stored in the same place.
}

Value Value::Inside() const {
  if (is_interface_) {
    Value inside = *this;
    inside.is_interface_ = false;
    return inside;
  }
  if (values_ == nullptr) return {};
  Value inside = *values_;
  inside.is_addressable_ = true;
  return inside;
}

Value Value::ElementAt(std::size_t index) const {
  Value element = is_bytes() ? Unsigned(static_cast<unsigned char>(text_[index]), *type_->element) : values_[index];
  element.is_addressable_ = type_->kind == Kind::kSlice || is_addressable_;
  return element;
}

Value Value::Part(std::size_t begin, std::size_t end, std::size_t capacity_end, const Type& type) const {
  Value part = *this;
  part.type_ = &type;
  part.is_addressable_ = false;
  if (type_->kind == Kind::kString || is_bytes()) {
    part.text_ += begin;
  } else {
    part.values_ += begin;
  }
  part.length_ = Length(end - begin);
  part.capacity_ = Length(capacity_end - begin);
  return part;
}

std::span<const MapEntry> Value::entries() const { return {entries_, length_}; }

Value Value::FieldAt(std::size_t index) const {
  Value field = values_[index];
  field.is_addressable_ = is_addressable_;
  return field;
}

Value Find(const Value& map, const Value& key) {
  const std::span<const MapEntry> entries = map.entries();
  const auto at = std::lower_bound(entries.begin(), entries.end(), key, [](const MapEntry& entry, const Value& wanted) {
    return IsKeyLess(entry.key, wanted);
  });
  if (at == entries.end() || IsKeyLess(key, at->key)) return {};
  return at->value;
}

Value Find(const Value& map, std::string_view key) { return Find(map, Value::Text(key, *map.type().key)); }

FollowedValue Follow(Value value) {
  while (value.kind() == Kind::kPointer || value.kind() == Kind::kInterface) {
    if (value.is_nil()) return {value, true};
    value = value.Inside();
  }
  return {value, false};
}

Value WithoutInterface(const Value& value) { return value.is_interface() ? value.Inside() : value; }

bool IsTrue(const Value& value) {
  switch (value.kind()) {
    case Kind::kInvalid:
      return false;
    case Kind::kBool:
      return value.boolean();
    case Kind::kString:
    case Kind::kSlice:
    case Kind::kArray:
    case Kind::kMap:
      return value.size() > 0;
    case Kind::kFloat32:
    case Kind::kFloat64:
      return value.real() != 0;
    case Kind::kComplex128:
      return value.complex() != 0.0;
    case Kind::kStruct:
      return true;
    case Kind::kPointer:
    case Kind::kInterface:
    case Kind::kFunction:
      return !value.is_nil();
    default:
      return value.unsigned_integer() != 0;
  }
}

std::string_view Memory::Keep(std::string text) {
  bytes_ += text.size() + sizeof(std::string);
  return texts_.emplace_back(std::move(text));
}

std::span<const Value> Memory::Keep(std::vector<Value> values) {
  bytes_ += values.size() * sizeof(Value) + sizeof(values);
  return values_.emplace_back(std::move(values));
}

std::span<const MapEntry> Memory::Keep(std::vector<MapEntry> entries) {
  bytes_ += entries.size() * sizeof(MapEntry) + sizeof(entries);
  return entries_.emplace_back(std::move(entries));
}

Value Memory::Strings(const std::vector<std::string>& texts) {
  std::vector<Value> values;
  values.reserve(texts.size());
  for (const std::string& text : texts) values.push_back(Value::Text(Keep(text)));
  return Value::Sequence(kStringsType, Keep(std::move(values)));
}

}  // namespace pintle::gotemplate
