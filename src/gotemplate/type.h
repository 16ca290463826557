// SPDX-License-Identifier: Apache-2.0
#pragma once

// The types of Go's values, as far as templates can observe them.  For example, a field that does not exist is an error
// in a struct, and prints "<no value>" in a map.
//
// A type is a constant table, and values refer to it by its address.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace pintle::gotemplate {

enum class Kind : std::uint8_t {
  kInvalid,  // There is no value.
  kBool,
  kInt,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kUint,
  kUint8,
  kUint16,
  kUint32,
  kUint64,
  kFloat32,
  kFloat64,
  kComplex128,
  kString,
  kSlice,
  kArray,
  kMap,
  kStruct,
  kPointer,
  kInterface,
  kFunction
};

constexpr bool IsSigned(Kind kind) { return kind >= Kind::kInt && kind <= Kind::kInt64; }
constexpr bool IsUnsigned(Kind kind) { return kind >= Kind::kUint && kind <= Kind::kUint64; }
constexpr bool IsFloat(Kind kind) { return kind == Kind::kFloat32 || kind == Kind::kFloat64; }
constexpr bool IsSequence(Kind kind) { return kind == Kind::kSlice || kind == Kind::kArray; }
// Returns whether nil is a value of this kind.
constexpr bool CanBeNil(Kind kind) {
  return kind == Kind::kSlice || kind == Kind::kMap || kind == Kind::kPointer || kind == Kind::kInterface ||
         kind == Kind::kFunction;
}

struct Type;

struct StructField {
  std::string_view name;
  const Type* type;
  std::string_view json_name = "";  // Empty if the fields of this embedded struct are members of the same object.
  bool is_embedded = false;

  constexpr bool is_exported() const { return name.empty() || name.front() < 'a' || name.front() > 'z'; }
};

struct Type {
  Kind kind;
  std::string_view name;          // The name as Go's %T prints it.
  bool is_named = false;          // The type was declared with a name; false for a composed type such as []string.
  const Type* element = nullptr;  // The type of the elements, or of the target of a pointer.
  const Type* key = nullptr;      // The type of a map's keys.
  std::span<const StructField> fields = {};
  std::size_t length = 0;            // The length of an array.
  const Type* slice_type = nullptr;  // The type of the slices of an array.
};

inline constexpr Type kAnyType = {Kind::kInterface, "interface {}"};
inline constexpr Type kBoolType = {Kind::kBool, "bool", true};
inline constexpr Type kIntType = {Kind::kInt, "int", true};
inline constexpr Type kInt64Type = {Kind::kInt64, "int64", true};
inline constexpr Type kUintType = {Kind::kUint, "uint", true};
inline constexpr Type kUint8Type = {Kind::kUint8, "uint8", true};
inline constexpr Type kUint32Type = {Kind::kUint32, "uint32", true};
inline constexpr Type kFloat32Type = {Kind::kFloat32, "float32", true};
inline constexpr Type kFloat64Type = {Kind::kFloat64, "float64", true};
inline constexpr Type kComplex128Type = {Kind::kComplex128, "complex128", true};
inline constexpr Type kStringType = {Kind::kString, "string", true};
inline constexpr Type kBytesType = {Kind::kSlice, "[]uint8", false, &kUint8Type};
inline constexpr Type kStringsType = {Kind::kSlice, "[]string", false, &kStringType};
inline constexpr Type kIntsType = {Kind::kSlice, "[]int", false, &kIntType};
inline constexpr Type kAnyListType = {Kind::kSlice, "[]interface {}", false, &kAnyType};
inline constexpr Type kAnyMapType = {Kind::kMap, "map[string]interface {}", false, &kAnyType, &kStringType};
inline constexpr Type kStringMapType = {Kind::kMap, "map[string]string", false, &kStringType, &kStringType};

// The type of parameters that accept a value of any type without converting it.
inline constexpr Type kAnyValueType = {Kind::kStruct, "reflect.Value", true};

// Returns whether two tables describe the same type.
bool IsSame(const Type& a, const Type& b);
// Returns whether Go lets a value of the type `from` be assigned to a variable of the type `to`.
bool IsAssignable(const Type& from, const Type& to);
// Returns whether Go can compare values of the type with ==.
bool IsComparable(const Type& type);

// The indices of the fields that lead to a field of a struct, possibly through embedded structs.
struct FieldPath {
  static constexpr std::size_t kLongest = 4;
  std::size_t indices[kLongest];
  std::size_t length = 0;
  const StructField* field = nullptr;
};
// Returns the path of the least deeply embedded field of this name, or nullopt if no path of at most kLongest indices
// leads to such a field.
std::optional<FieldPath> FindField(const Type& type, std::string_view name);

}  // namespace pintle::gotemplate
