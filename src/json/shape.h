// SPDX-License-Identifier: Apache-2.0
#pragma once

// Describes how an object is laid out in memory, so that ReadList() can read an element of a list into a struct without
// making a Value first.
//
// A shape is made from the FieldList of the struct.  Only structs that ignore unknown keys have one, because a reader
// that uses shapes reports no problems: it returns nullopt, and the element is then decoded from a Value.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "json/field_list.h"
#include "json/field_rows.h"
#include "json/report.h"
#include "json/value.h"

namespace pintle::json {

struct Shape {
  enum class Type : std::uint8_t {
    kText,      // A std::string.
    kTexts,     // A std::map<std::string, std::string>.
    kObject,    // A struct with these members.
    kList,      // A std::vector.
    kOptional,  // A std::optional.
    kOther,     // Anything else; it is decoded from a Value.
  };
  struct Member {
    std::string_view name;
    std::ptrdiff_t offset;  // In bytes, from the beginning of the struct.
    const Shape* shape;
  };

  Type type = Type::kOther;
  std::vector<Member> members = {};
  const Shape* inner = nullptr;         // The shape of the elements of a list, and of the value of an optional.
  void* (*add)(void* outer) = nullptr;  // Adds an element to a list or a value to an optional.  Returns its address.
  void (*decode)(Value&& from, void* to, const Path& path, Report& report) = nullptr;  // Of kOther.
};

// Returns the shape of a type that is decoded leniently, or of a type of its members.
template <typename T>
const Shape& ShapeOf();

namespace internal {

template <typename T>
concept Lenient = Described<T> && T::kLenient;

template <typename T, typename AnyField>
Shape::Member MemberShape(const T& object, const AnyField& field) {
  const auto* const member = reinterpret_cast<const char*>(&(object.*field.member));
  return {.name = field.name,
          .offset = member - reinterpret_cast<const char*>(&object),
          .shape = &ShapeOf<typename AnyField::Member>()};
}

template <typename T>
Shape MakeShape() {
  if constexpr (std::is_same_v<T, std::string>) {
    return {.type = Shape::Type::kText};
  } else if constexpr (std::is_same_v<T, std::map<std::string, std::string>>) {
    return {.type = Shape::Type::kTexts};
  } else if constexpr (kIsOptional<T>) {
    return {.type = Shape::Type::kOptional,
            .inner = &ShapeOf<typename T::value_type>(),
            .add = [](void* outer) -> void* { return &static_cast<T*>(outer)->emplace(); }};
  } else if constexpr (kIsVector<T>) {
    return {.type = Shape::Type::kList, .inner = &ShapeOf<typename T::value_type>(), .add = [](void* outer) -> void* {
              return &static_cast<T*>(outer)->emplace_back();
            }};
  } else if constexpr (Lenient<T>) {
    Shape shape = {.type = Shape::Type::kObject};
    const T object{};
    ForEachField<T>([&](const auto& field) { shape.members.push_back(MemberShape(object, field)); });
    return shape;
  } else {
    return {.decode = DecodeMember<T>};
  }
}

}  // namespace internal

template <typename T>
const Shape& ShapeOf() {
  static const Shape& shape = *new Shape(internal::MakeShape<T>());  // Never destroyed, as in field_rows.h.
  return shape;
}

}  // namespace pintle::json
