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
// Decoding, encoding, comparing and merging all use that list, so that none of them can forget a member.  Decoding
// reports every problem with its path, and each unknown key as a warning.  It moves long strings out of the document
// instead of copying them, so the document cannot be used afterwards.

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "json/parse.h"
#include "json/report.h"

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

template <typename T>
bool Equal(const T& a, const T& b) {
  if constexpr (Described<T>) {
    bool equal = true;
    ForEachField<T>([&](const auto& field) { equal = equal && Equal(a.*field.member, b.*field.member); });
    return equal;
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

// Reads and writes a type that is not a struct with fields.  Specialise it for a type of your own.
template <typename T>
struct Codec;

template <typename T>
void DecodeInto(Value&& from, T& to, const Path& path, Report& report) {
  Codec<T>::Decode(std::move(from), to, path, report);
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
  return Codec<T>::Encode(from);
}

template <>
struct Codec<Value> {  // Copies a part of a document without decoding it.
  static void Decode(Value&& from, Value& to, const Path&, Report&) { to = std::move(from); }
  static Value Encode(const Value& from) { return from; }
};

template <>
struct Codec<std::string> {
  static void Decode(Value&& from, std::string& to, const Path& path, Report& report) {
    if (!from.is_string()) return report.Error(path, "must be a string");
    to = std::move(from.text());
  }
  static Value Encode(const std::string& from) { return from; }
};

template <>
struct Codec<bool> {
  static void Decode(Value&& from, bool& to, const Path& path, Report& report) {
    if (!from.is_boolean()) return report.Error(path, "must be true or false");
    to = from.boolean();
  }
  static Value Encode(bool from) { return from; }
};

template <std::integral T>
requires(!std::same_as<T, bool>) struct Codec<T> {
  static void Decode(Value&& from, T& to, const Path& path, Report& report) {
    if (!from.is_integer()) return report.Error(path, "must be a whole number");
    const bool fits = from.is_unsigned() ? std::in_range<T>(from.unsigned_integer()) : std::in_range<T>(from.integer());
    if (!fits) {
      return report.Error(path, "must be between " + std::to_string(std::numeric_limits<T>::min()) + " and " +
                                    std::to_string(std::numeric_limits<T>::max()));
    }
    to = static_cast<T>(from.integer());
  }
  static Value Encode(T from) { return from; }
};

template <>
struct Codec<double> {
  static void Decode(Value&& from, double& to, const Path& path, Report& report) {
    if (!from.is_number()) return report.Error(path, "must be a number");
    to = from.real();
  }
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
    to.clear();
    to.reserve(from.size());
    std::size_t index = 0;
    for (Value& element : from) DecodeInto(std::move(element), to.emplace_back(), Path(path, index++), report);
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

template <Described T>
struct Codec<T> {
  static void Decode(Value&& from, T& to, const Path& path, Report& report) {
    if (!from.is_object()) return report.Error(path, "must be an object");
    auto& members = from.members();
    ForEachField<T>([&](const auto& field) { DecodeField(field, members, to, path, report); });
    for (const auto& [key, value] : members) {
      if (!HasField(key)) report.Warning(Path(path, key), "unknown key");
    }
  }

  static Value Encode(const T& from) {
    Value to = Value::object();
    ForEachField<T>([&](const auto& field) { EncodeField(field, from, to); });
    return to;
  }

 private:
  static bool HasField(std::string_view key) {
    bool known = false;
    ForEachField<T>([&](const auto& field) { known = known || field.name == key; });
    return known;
  }

  template <typename AnyField>
  static void DecodeField(const AnyField& field, Value::Object& members, T& to, const Path& path, Report& report) {
    const auto member = members.find(field.name);
    if (member != members.end() && !(member->second.is_null() && !AnyField::kIsRequired)) {
      DecodeInto(std::move(member->second), to.*field.member, Path(path, field.name), report);
    } else if (AnyField::kIsRequired && member == members.end()) {
      report.Error(Path(path, field.name), "is required");
    }
  }

  template <typename AnyField>
  static void EncodeField(const AnyField& field, const T& from, Value& to) {
    if constexpr (!AnyField::kIsRequired) {
      static const T kDefault{};
      if (Equal(from.*field.member, kDefault.*field.member)) return;
    }
    to[field.name] = json::Encode(from.*field.member);
  }
};

// The names of an enumeration's values.  Specialise it: `template <> inline constexpr auto kNames<Colour> =
// std::array{std::pair{Colour::kRed, "red"}, ...}`.
template <typename E>
inline constexpr auto kNames = std::array<std::pair<E, const char*>, 0>{};

template <typename E>
requires std::is_enum_v<E>
struct Codec<E> {
  static_assert(kNames<E>.size() > 0, "kNames needs a specialisation for this enumeration");

  static void Decode(Value&& from, E& to, const Path& path, Report& report) {
    if (!from.is_string()) return report.Error(path, "must be a string");
    const auto& name = from.text();
    std::string allowed;
    for (const auto& [value, text] : kNames<E>) {
      if (name == text) {
        to = value;
        return;
      }
      allowed += (allowed.empty() ? "\"" : ", \"") + std::string(text) + "\"";
    }
    report.Error(path, "\"" + name + "\" is none of " + allowed);
  }

  static Value Encode(E from) {
    for (const auto& [value, text] : kNames<E>) {
      if (value == from) return text;
    }
    return nullptr;
  }
};

// The value of the key "kind" by which an alternative of a variant is recognised.
template <typename T>
inline constexpr std::string_view kKind = "";

template <typename... Alternatives>
struct Codec<std::variant<Alternatives...>> {
  using Variant = std::variant<Alternatives...>;

  static void Decode(Value&& from, Variant& to, const Path& path, Report& report) {
    if (!from.is_object()) return report.Error(path, "must be an object");
    Value* kind = from.Find("kind");
    if (kind == nullptr || !kind->is_string()) return report.Error(Path(path, "kind"), "must be a string");
    const std::string name = std::move(kind->text());
    from.Erase("kind");
    const bool known = (DecodeIfNamed<Alternatives>(name, from, to, path, report) || ...);
    if (!known) report.Error(Path(path, "kind"), "\"" + name + "\" is not known");
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

// Calls `differs` with the path of each field in which two structs differ.  A list is compared as a whole.
template <typename T, typename Differs>
void Compare(const T& a, const T& b, Differs&& differs, const Path& path = {}) {
  if constexpr (Described<T>) {
    ForEachField<T>(
        [&](const auto& field) { Compare(a.*field.member, b.*field.member, differs, Path(path, field.name)); });
  } else if constexpr (internal::kIsOptional<T>) {
    if (a && b) return Compare(*a, *b, differs, path);
    if (a.has_value() != b.has_value()) differs(path);
  } else if (!Equal(a, b)) {
    differs(path);
  }
}

// A type of list elements that have a key.  A function Key() in the namespace of the type returns it.
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
