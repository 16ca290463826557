// SPDX-License-Identifier: Apache-2.0
#pragma once

// Translates a config from one version of the specification to a neighbouring one, field by field.
//
// Fields are matched by name.  If a field is optional in the source and mandatory in the target, a missing value
// becomes the default value.  In the opposite case, an empty struct becomes a missing value.  Fields that the target
// version does not have are dropped, so the caller must check beforehand whether a translation to an older version
// would lose a value.

#include <concepts>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "json/field_list.h"

namespace pintle::ignition {

namespace internal {

inline constexpr std::size_t kNoField = static_cast<std::size_t>(-1);

// Returns the index of the field of this name in T::kFields, or kNoField.
template <json::Described T>
consteval std::size_t FieldNamed(std::string_view name) {
  std::size_t index = 0;
  std::size_t found = kNoField;
  json::ForEachField<T>([&](const auto& field) {
    if (field.name == name) found = index;
    ++index;
  });
  return found;
}

}  // namespace internal

// Moves a value to its counterpart in the other version; the fields of a struct go to the fields of the same names.
template <typename From, typename To>
void Carry(From&& from, To& to);

namespace internal {

template <std::size_t kIndex, typename From, typename To>
void CarryField(From& from, To& to) {
  constexpr auto kFrom = json::FieldAt<kIndex>(From::kFields);
  constexpr std::size_t kTo = FieldNamed<To>(kFrom.name);
  if constexpr (kTo != kNoField) {
    constexpr auto kField = json::FieldAt<kTo>(To::kFields);
    Carry(std::move(from.*kFrom.member), to.*kField.member);
  }
}

template <typename From, typename To, std::size_t... kIndexes>
void CarryFields(From& from, To& to, std::index_sequence<kIndexes...>) {
  (CarryField<kIndexes>(from, to), ...);
}

// A mandatory struct counts as given if it differs from an empty one.  Any other mandatory value counts as given, even
// an empty string.
template <typename T>
bool IsGiven(const T& value) {
  if constexpr (json::Described<T>) {
    return !json::Equal(value, T{});
  } else {
    return true;
  }
}

}  // namespace internal

template <typename From, typename To>
void Carry(From&& from, To& to) {
  using json::internal::kIsOptional;
  using json::internal::kIsVector;
  static_assert(std::is_rvalue_reference_v<decltype(from)>);
  if constexpr (std::same_as<From, To>) {
    to = std::move(from);
  } else if constexpr (kIsVector<From> && kIsVector<To>) {
    to.reserve(from.size());
    for (auto& element : from) Carry(std::move(element), to.emplace_back());
  } else if constexpr (kIsOptional<From>) {
    if (!from) return;
    if constexpr (kIsOptional<To>) {
      Carry(*std::move(from), to.emplace());
    } else {
      Carry(*std::move(from), to);
    }
  } else if constexpr (kIsOptional<To>) {
    if (internal::IsGiven(from)) Carry(std::move(from), to.emplace());
  } else {
    internal::CarryFields(from, to, std::make_index_sequence<From::kFields.kSize>());
  }
}

// Translates a whole config and sets its version.
template <typename To, typename From>
To Translate(From from, std::string_view version) {
  To to;
  Carry(std::move(from), to);
  to.ignition.version = version;
  return to;
}

}  // namespace pintle::ignition
