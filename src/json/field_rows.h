// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decodes and encodes the fields of a struct by a table that is built from the struct's FieldList at the first use.
//
// The functions that use the table are compiled once, for all structs.  As templates, they would be compiled for each
// struct in each file that uses the struct.

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "json/field_list.h"
#include "json/report.h"
#include "json/value.h"

namespace pintle::json::internal {

// A field of a struct: the place of its member in an object, and functions for the member.
struct FieldRow {
  std::string_view name;
  bool is_required;
  std::ptrdiff_t offset;  // In bytes, from the beginning of the object.
  void (*decode)(Value&& from, void* member, const Path& path, Report& report);
  Value (*encode)(const void* member);
  bool (*equal)(const void* a, const void* b);  // nullptr if the field is required.
};

// Decodes the fields that `from` has, and warns about unknown keys.  A key that is null counts as missing, unless the
// field is required.
void DecodeStrictly(std::span<const FieldRow> rows, Value&& from, void* to, const Path& path, Report& report);

// Decodes the fields that `from` has and that are not null, and ignores unknown keys.
void DecodeLeniently(std::span<const FieldRow> rows, Value&& from, void* to, const Path& path, Report& report);

// Encodes each field that is required, or that differs from the same field of `default_object`, a newly constructed
// object.
Value EncodeRows(std::span<const FieldRow> rows, const void* from, const void* default_object);

template <typename Member>
void DecodeMember(Value&& from, void* member, const Path& path, Report& report) {
  DecodeInto(std::move(from), *static_cast<Member*>(member), path, report);
}

template <typename Member>
Value EncodeMember(const void* member) {
  return json::Encode(*static_cast<const Member*>(member));
}

template <typename AnyField>
constexpr auto EqualMembers() -> bool (*)(const void*, const void*) {
  using Member = typename AnyField::Member;
  if constexpr (AnyField::kIsRequired) {
    return nullptr;
  } else {
    return [](const void* a, const void* b) {
      return Equal(*static_cast<const Member*>(a), *static_cast<const Member*>(b));
    };
  }
}

template <Described T>
class Rows {
 public:
  // If this were inline, decoding and encoding would each have a copy of the constructor.
  [[gnu::noinline]] static const Rows& Get() {
    static const Rows& rows = *new Rows;  // Never destroyed, which saves a destructor for each struct.
    return rows;
  }

  std::span<const FieldRow> rows() const { return rows_; }
  const T& default_object() const { return default_object_; }

 private:
  Rows() : rows_(RowsOf(T::kFields)) {}

  template <std::size_t... kIndex, typename... Fields>
  std::array<FieldRow, sizeof...(Fields)> RowsOf(
      [[maybe_unused]] const Places<std::index_sequence<kIndex...>, Fields...>& places) const {
    return {RowOf(static_cast<const Place<kIndex, Fields>&>(places).field)...};
  }

  template <typename AnyField>
  FieldRow RowOf(const AnyField& field) const {
    using Member = typename AnyField::Member;
    const auto* const member = reinterpret_cast<const char*>(&(default_object_.*field.member));
    return {.name = field.name,
            .is_required = AnyField::kIsRequired,
            .offset = member - reinterpret_cast<const char*>(&default_object_),
            .decode = DecodeMember<Member>,
            .encode = EncodeMember<Member>,
            .equal = EqualMembers<AnyField>()};
  }

  T default_object_{};
  std::array<FieldRow, std::remove_cvref_t<decltype(T::kFields)>::kSize> rows_;
};

}  // namespace pintle::json::internal

namespace pintle::json {

template <Described T>
struct Codec<T> {
  static void Decode(Value&& from, T& to, const Path& path, Report& report) {
    internal::DecodeStrictly(internal::Rows<T>::Get().rows(), std::move(from), &to, path, report);
  }

  static Value Encode(const T& from) {
    const auto& rows = internal::Rows<T>::Get();
    return internal::EncodeRows(rows.rows(), &from, &rows.default_object());
  }
};

}  // namespace pintle::json
