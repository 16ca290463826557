// SPDX-License-Identifier: Apache-2.0
#pragma once

// Each struct lists its fields once:
//
//     struct File {
//       std::string path;
//       std::optional<int> mode;
//       std::vector<Resource> append;
//
//       static constexpr auto kFields = FieldList{
//           Required{"path", &File::path},
//           Field{"mode", &File::mode},
//           Field{"append", &File::append},
//       };
//     };
//
// Decoding, encoding, comparing and merging (json/fields.h) use that list, so that none of them can forget a member.

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "json/report.h"
#include "json/value.h"

namespace pintle::json {

// A member that may be missing in the document; it then keeps its default value.  A member that has its default value
// is not written.
template <typename Owner, typename T>
struct Field {
  using Member = T;
  static constexpr bool kIsRequired = false;
  std::string_view name;
  T Owner::*member;
};
template <typename Owner, typename T>
Field(std::string_view, T Owner::*) -> Field<Owner, T>;

// A member that must be in the document, and that is always written.
template <typename Owner, typename T>
struct Required {
  using Member = T;
  static constexpr bool kIsRequired = true;
  std::string_view name;
  T Owner::*member;
};
template <typename Owner, typename T>
Required(std::string_view, T Owner::*) -> Required<Owner, T>;

namespace internal {

// A field and its index in the list.  The index makes each base class of Places a different type.
template <std::size_t kIndex, typename AnyField>
struct Place {
  AnyField field;
};

template <typename Indices, typename... Fields>
struct Places;
template <std::size_t... kIndex, typename... Fields>
struct Places<std::index_sequence<kIndex...>, Fields...> : Place<kIndex, Fields>... {
  explicit constexpr Places(Fields... field) : Place<kIndex, Fields>{field}... {}
};

template <typename Visit, std::size_t... kIndex, typename... Fields>
constexpr void VisitAll([[maybe_unused]] Visit& visit,
                        [[maybe_unused]] const Places<std::index_sequence<kIndex...>, Fields...>& places) {
  (visit(static_cast<const Place<kIndex, Fields>&>(places).field), ...);
}

}  // namespace internal

// The fields of a struct.  We do not use a std::tuple, because its constructors take the compiler several times as
// long, and most of our files include hundreds of these lists.
template <typename... Fields>
struct FieldList : internal::Places<std::index_sequence_for<Fields...>, Fields...> {
  static constexpr std::size_t kSize = sizeof...(Fields);
  explicit constexpr FieldList(Fields... field)
      : internal::Places<std::index_sequence_for<Fields...>, Fields...>(field...) {}
};
template <typename... Fields>
FieldList(Fields...) -> FieldList<Fields...>;

template <std::size_t kIndex, typename AnyField>
constexpr const AnyField& FieldAt(const internal::Place<kIndex, AnyField>& place) {
  return place.field;
}

// A struct that lists its fields.
template <typename T>
concept Described = requires {
  T::kFields;
};

// Calls `visit` with each field of T in turn.
template <Described T, typename Visit>
constexpr void ForEachField(Visit&& visit) {
  internal::VisitAll(visit, T::kFields);
}

namespace internal {

template <typename T>
inline constexpr bool kIsOptional = false;
template <typename T>
inline constexpr bool kIsOptional<std::optional<T>> = true;
template <typename T>
inline constexpr bool kIsVector = false;
template <typename T>
inline constexpr bool kIsVector<std::vector<T>> = true;
template <typename T>
inline constexpr bool kIsMap = false;
template <typename T>
inline constexpr bool kIsMap<std::map<std::string, T>> = true;

}  // namespace internal

// Returns whether two values are equal.  Structs are compared field by field.
template <typename T>
bool Equal(const T& a, const T& b);

namespace internal {

template <typename T, std::size_t... kIndex, typename... Fields>
bool AreEqual([[maybe_unused]] const T& a, [[maybe_unused]] const T& b,
              [[maybe_unused]] const Places<std::index_sequence<kIndex...>, Fields...>& places) {
  return (Equal(a.*static_cast<const Place<kIndex, Fields>&>(places).field.member,
                b.*static_cast<const Place<kIndex, Fields>&>(places).field.member) &&
          ...);
}

}  // namespace internal

template <typename T>
bool Equal(const T& a, const T& b) {
  if constexpr (Described<T>) {
    return internal::AreEqual(a, b, T::kFields);
  } else if constexpr (internal::kIsOptional<T>) {
    return a.has_value() == b.has_value() && (!a || Equal(*a, *b));
  } else if constexpr (internal::kIsVector<T>) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) { return Equal(x, y); });
  } else if constexpr (internal::kIsMap<T>) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const auto& x, const auto& y) { return x.first == y.first && Equal(x.second, y.second); });
  } else {
    return a == b;
  }
}

// Decodes and encodes a type.  Specialise it for a type of your own; a struct with fields has a Codec already
// (json/field_rows.h).
template <typename T>
struct Codec;

// Decodes and encodes a type by its Codec.  The functions are not inline.  So a header can declare `extern template
// struct Coding<T>`, and T is compiled once, in the source that has `template struct Coding<T>` and includes
// json/fields.h.  (Codec itself cannot be used in this way with GCC 12, because its specialisations have constraints.)
template <typename T>
struct Coding {
  static void Decode(Value&& from, T& to, const Path& path, Report& report);
  static Value Encode(const T& from);
};

template <typename T>
void Coding<T>::Decode(Value&& from, T& to, const Path& path, Report& report) {
  Codec<T>::Decode(std::move(from), to, path, report);
}

template <typename T>
Value Coding<T>::Encode(const T& from) {
  return Codec<T>::Encode(from);
}

template <typename T>
void DecodeInto(Value&& from, T& to, const Path& path, Report& report) {
  Coding<T>::Decode(std::move(from), to, path, report);
}

// Decodes a whole document.  The result may only be used if the report has no errors.
template <typename T>
T Decode(Value document, Report& report) {
  T to{};
  DecodeInto(std::move(document), to, Path(), report);
  return to;
}

template <typename T>
Value Encode(const T& from) {
  return Coding<T>::Encode(from);
}

// The names of an enumeration's values.  Specialise it: `template <> inline constexpr auto kNames<Colour> =
// std::array{std::pair{Colour::kRed, "red"}, ...}`.
template <typename E>
inline constexpr auto kNames = std::array<std::pair<E, const char*>, 0>{};

// The value that the key "kind" has in the JSON of this alternative of a variant.
template <typename T>
inline constexpr std::string_view kKind = "";

}  // namespace pintle::json
