// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decodes, encodes, compares and merges structs by the list of their fields.
//
// Decoding reports every problem with its path, and each unknown key as a warning; structs with `kLenient`
// (api/lenient.h) ignore unknown keys, and do not need their required members.  Decoding moves long strings out of the
// document instead of copying them, so the document cannot be used afterwards.
//
// Headers that define such structs include only json/field_list.h.  So after a change of this file, only the sources
// that read or write documents have to be compiled again.

#include <array>
#include <concepts>
#include <cstddef>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "json/field_list.h"
#include "json/field_rows.h"
#include "json/report.h"

namespace pintle::json {

namespace internal {

// Reports that a number is too small or too large for its type.
void ReportRange(const Path& path, Report& report, const std::string& least, const std::string& most);

// Returns the index of the string `from` in `names`.  If it is not there, reports an error and returns nullopt.
std::optional<std::size_t> IndexOfName(const Value& from, std::span<const char* const> names, const Path& path,
                                       Report& report);

// Decodes the elements of a list into objects of `size` bytes each, which lie one after the other.
void DecodeElements(Value&& from, void* first, std::size_t size,
                    void (*decode)(Value&& from, void* element, const Path& path, Report& report), const Path& path,
                    Report& report);

// Removes the member "kind" from an object, and returns its text.  If there is no such text, reports an error and
// returns nullopt.
std::optional<std::string> TakeKind(Value& from, const Path& path, Report& report);

}  // namespace internal

template <>
struct Codec<Value> {  // Keeps a part of a document as JSON, without decoding it.
  static void Decode(Value&& from, Value& to, const Path&, Report&) { to = std::move(from); }
  static Value Encode(const Value& from) { return from; }
};

template <>
struct Codec<std::string> {
  static void Decode(Value&& from, std::string& to, const Path& path, Report& report);
  static Value Encode(const std::string& from) { return from; }
};

template <>
struct Codec<bool> {
  static void Decode(Value&& from, bool& to, const Path& path, Report& report);
  static Value Encode(bool from) { return from; }
};

template <std::integral T>
requires(!std::same_as<T, bool>) struct Codec<T> {
  static void Decode(Value&& from, T& to, const Path& path, Report& report) {
    if (!from.is_integer()) return report.Error(path, "must be a whole number");
    const bool fits = from.is_unsigned() ? std::in_range<T>(from.unsigned_integer()) : std::in_range<T>(from.integer());
    if (!fits) {
      return internal::ReportRange(path, report, std::to_string(std::numeric_limits<T>::min()),
                                   std::to_string(std::numeric_limits<T>::max()));
    }
    to = static_cast<T>(from.integer());
  }
  static Value Encode(T from) { return from; }
};

template <>
struct Codec<double> {
  static void Decode(Value&& from, double& to, const Path& path, Report& report);
  static Value Encode(double from) { return from; }
};

// Null and a missing key both decode to nullopt.
template <typename T>
struct Codec<std::optional<T>> {
  static void Decode(Value&& from, std::optional<T>& to, const Path& path, Report& report) {
    if (from.is_null()) return to.reset();
    DecodeInto(std::move(from), to.emplace(), path, report);
  }
  static Value Encode(const std::optional<T>& from) { return from ? json::Encode(*from) : Value(nullptr); }
};

template <typename T>
struct Codec<std::vector<T>> {
  static void Decode(Value&& from, std::vector<T>& to, const Path& path, Report& report) {
    if (from.is_null()) return to.clear();
    if (!from.is_array()) return report.Error(path, "must be a list");
    to = std::vector<T>(from.size());
    internal::DecodeElements(std::move(from), to.data(), sizeof(T), internal::DecodeMember<T>, path, report);
  }
  static Value Encode(const std::vector<T>& from) {
    Value to = Value::array();
    for (const T& element : from) to.push_back(json::Encode(element));
    return to;
  }
};

template <typename T>
struct Codec<std::map<std::string, T>> {
  static void Decode(Value&& from, std::map<std::string, T>& to, const Path& path, Report& report) {
    if (from.is_null()) return to.clear();
    if (!from.is_object()) return report.Error(path, "must be an object");
    to.clear();
    for (auto& [key, value] : from.members()) {
      DecodeInto(std::move(value), to[key], Path(path, key), report);
    }
  }
  static Value Encode(const std::map<std::string, T>& from) {
    Value to = Value::object();
    for (const auto& [key, value] : from) to[key] = json::Encode(value);
    return to;
  }
};

template <typename E>
requires std::is_enum_v<E>
struct Codec<E> {
  static_assert(kNames<E>.size() > 0, "kNames needs a specialisation for this enumeration");

  static void Decode(Value&& from, E& to, const Path& path, Report& report) {
    constexpr auto kTexts = std::apply([](const auto&... name) { return std::array{name.second...}; }, kNames<E>);
    if (const auto index = internal::IndexOfName(from, kTexts, path, report)) to = kNames<E>[*index].first;
  }

  static Value Encode(E from) {
    for (const auto& [value, text] : kNames<E>) {
      if (value == from) return text;
    }
    return nullptr;
  }
};

template <typename... Alternatives>
struct Codec<std::variant<Alternatives...>> {
  using Variant = std::variant<Alternatives...>;

  static void Decode(Value&& from, Variant& to, const Path& path, Report& report) {
    const auto name = internal::TakeKind(from, path, report);
    if (!name) return;
    const bool known = (DecodeIfNamed<Alternatives>(*name, from, to, path, report) || ...);
    if (!known) report.Error(Path(path, "kind"), "\"" + *name + "\" is not known");
  }

  static Value Encode(const Variant& from) {
    return std::visit(
        []<typename T>(const T& alternative) {
          static_assert(!kKind<T>.empty(), "kKind needs a specialisation for this alternative");
          Value to = json::Encode(alternative);
          to["kind"] = std::string(kKind<T>);
          return to;
        },
        from);
  }

 private:
  template <typename T>
  static bool DecodeIfNamed(std::string_view name, Value& from, Variant& to, const Path& path, Report& report) {
    if (name != kKind<T>) return false;
    DecodeInto(std::move(from), to.template emplace<T>(), path, report);
    return true;
  }
};

// Calls `on_difference` with the path of each field in which two structs differ.  A list is compared as a whole.
template <typename T, typename OnDifference>
void Compare(const T& a, const T& b, OnDifference&& on_difference, const Path& path = {}) {
  if constexpr (Described<T>) {
    ForEachField<T>(
        [&](const auto& field) { Compare(a.*field.member, b.*field.member, on_difference, Path(path, field.name)); });
  } else if constexpr (internal::kIsOptional<T>) {
    if (a && b) return Compare(*a, *b, on_difference, path);
    if (a.has_value() != b.has_value()) on_difference(path);
  } else if (!Equal(a, b)) {
    on_difference(path);
  }
}

// A type of list elements that have a key.  A function Key() in the namespace of the type returns the key.
template <typename T>
concept Keyed = requires(const T& element) {
  { Key(element) } -> std::convertible_to<std::string>;
};

template <typename T>
void MergeLists(std::vector<T>& parent, std::vector<T> child);

// Merges `child` into `parent`.  Structs are merged field by field.  An optional of the parent is kept if the child's
// is empty.  Lists whose elements have a Key() are merged element by element; the elements of any other list are
// appended.  Everything else is replaced.
template <typename T>
void MergeInto(T& parent, T child) {
  if constexpr (Described<T>) {
    ForEachField<T>([&](const auto& field) { MergeInto(parent.*field.member, std::move(child.*field.member)); });
  } else if constexpr (internal::kIsOptional<T>) {
    if (!child) return;
    if (parent) return MergeInto(*parent, *std::move(child));
    parent = std::move(child);
  } else if constexpr (internal::kIsVector<T>) {
    MergeLists(parent, std::move(child));
  } else {
    parent = std::move(child);
  }
}

template <typename T>
void MergeLists(std::vector<T>& parent, std::vector<T> child) {
  if constexpr (Keyed<T>) {
    std::map<std::string, std::size_t> at;
    for (std::size_t i = 0; i < parent.size(); ++i) at.emplace(Key(parent[i]), i);
    for (T& element : child) {
      const auto [same, is_new] = at.emplace(Key(element), parent.size());
      if (is_new) {
        parent.push_back(std::move(element));
      } else {
        MergeInto(parent[same->second], std::move(element));
      }
    }
  } else {
    std::move(child.begin(), child.end(), std::back_inserter(parent));
  }
}

}  // namespace pintle::json
