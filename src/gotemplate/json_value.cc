// SPDX-License-Identifier: Apache-2.0
#include "gotemplate/json_value.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <string>

#include "base/base64.h"

namespace pintle::gotemplate {
namespace {

Value AnyFrom(const json::Value& json, Memory& memory);

Value ZeroOf(const Type& type, Memory& memory) {
  static const json::Value kNull;
  return FromJson(kNull, type, memory);
}

Value SequenceFrom(const json::Value& json, const Type& type, Memory& memory) {
  if (json.is_string() && type.element->kind == Kind::kUint8) {
    return Value::Bytes(memory.Keep(DecodeBase64(json.text()).value_or("")), type);
  }
  if (!json.is_array() && type.kind == Kind::kSlice) return Value::Zero(type);
  std::vector<Value> elements;
  elements.reserve(std::max(json.size(), type.length));
  for (const json::Value& element : json) elements.push_back(FromJson(element, *type.element, memory));
  if (type.kind == Kind::kArray) {
    while (elements.size() < type.length) elements.push_back(ZeroOf(*type.element, memory));
    elements.resize(type.length);
  }
  return Value::Sequence(type, memory.Keep(std::move(elements)));
}

// Makes a slice with the capacity that it has in Go, whose decoder doubles the capacity of a full slice.  The template
// function `slice` can reach the unused capacity, which has zero values.
Value AnyListFrom(const json::Value& json, Memory& memory) {
  std::vector<Value> elements;
  elements.reserve(std::bit_ceil(json.size()));
  for (const json::Value& element : json) elements.push_back(FromJson(element, kAnyType, memory));
  if (!elements.empty()) elements.resize(std::bit_ceil(elements.size()), Value().AsInterface());
  const Value all = Value::Sequence(kAnyListType, memory.Keep(std::move(elements)));
  return all.Part(0, json.size(), all.capacity(), kAnyListType);
}

Value KeyFrom(const std::string& text, const Type& type) {
  if (type.kind == Kind::kString) return Value::Text(text, type);
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return IsSigned(type.kind) ? Value::Integer(number, type) : Value::Unsigned(static_cast<std::uint64_t>(number), type);
}

Value MapFrom(const json::Value& json, const Type& type, Memory& memory) {
  if (!json.is_object()) return Value::Zero(type);
  std::vector<MapEntry> entries;
  entries.reserve(json.size());
  for (const auto& [key, value] : json.members()) {
    entries.push_back({KeyFrom(key, *type.key), FromJson(value, *type.element, memory)});
  }
  if (type.key->kind != Kind::kString) {
    std::sort(entries.begin(), entries.end(),
              [](const MapEntry& a, const MapEntry& b) { return a.key.integer() < b.key.integer(); });
  }
  return Value::Map(type, memory.Keep(std::move(entries)));
}

// Returns the JSON of a field.  Go decodes the fields of an embedded struct from the same object as the other fields.
const json::Value* MemberFor(const json::Value& json, const StructField& field) {
  return field.json_name.empty() ? &json : json.Find(field.json_name);
}

Value StructFrom(const json::Value& json, const Type& type, Memory& memory) {
  std::vector<Value> fields;
  fields.reserve(type.fields.size());
  for (const StructField& field : type.fields) {
    const json::Value* member = MemberFor(json, field);
    fields.push_back(member == nullptr ? ZeroOf(*field.type, memory) : FromJson(*member, *field.type, memory));
  }
  return Value::Struct(type, memory.Keep(std::move(fields)).data());
}

Value PointerFrom(const json::Value& json, const Type& type, Memory& memory) {
  if (json.is_null()) return Value::Zero(type);
  return Value::Pointer(type, memory.Keep(std::vector{FromJson(json, *type.element, memory)}).data());
}

// Makes a value of the type that Go's decoder chooses for an interface.
Value AnyFrom(const json::Value& json, Memory& memory) {
  switch (json.type()) {
    case json::Value::Type::kNull:
      return {};
    case json::Value::Type::kBoolean:
      return Value::Bool(json.boolean());
    case json::Value::Type::kInteger:
    case json::Value::Type::kUnsigned:
    case json::Value::Type::kReal:
      return Value::Real(json.real());
    case json::Value::Type::kString:
      return Value::Text(json.text());
    case json::Value::Type::kArray:
      return AnyListFrom(json, memory);
    case json::Value::Type::kObject:
      return MapFrom(json, kAnyMapType, memory);
  }
  return {};
}

}  // namespace

Value FromJson(const json::Value& json, const Type& type, Memory& memory) {
  switch (type.kind) {
    case Kind::kInterface:
      return AnyFrom(json, memory).AsInterface();
    case Kind::kBool:
      return Value::Bool(json.is_boolean() && json.boolean(), type);
    case Kind::kString:
      return json.is_string() ? Value::Text(json.text(), type) : Value::Text("", type);
    case Kind::kSlice:
    case Kind::kArray:
      return SequenceFrom(json, type, memory);
    case Kind::kMap:
      return MapFrom(json, type, memory);
    case Kind::kStruct:
      return StructFrom(json, type, memory);
    case Kind::kPointer:
      return PointerFrom(json, type, memory);
    case Kind::kFloat32:
    case Kind::kFloat64:
      return Value::Real(json.is_number() ? json.real() : 0, type);
    default:
      break;
  }
  if (!json.is_number()) return Value::Zero(type);
  if (IsSigned(type.kind)) return Value::Integer(json.integer(), type);
  if (IsUnsigned(type.kind)) return Value::Unsigned(json.unsigned_integer(), type);
  return Value::Zero(type);
}

}  // namespace pintle::gotemplate
