// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decodes and encodes structs of Go programs, and merges them as the Machine Config Operator does.
//
// A struct gives its name in Go as kGoName, and lists its fields (go_field.h).  If Go has some of these fields in an
// embedded struct, the function Embedding() returns the name of the embedded struct.
//
// A merge puts one struct (`above`) over another (`below`).  A field of `above` that is not empty replaces the field of
// `below`.  So a merge cannot set a field back to false, 0 or "", and users of the operator rely on that.  Structs are
// merged field by field, and maps key by key.  In a map, even an empty value replaces the value below.

#include <cmath>
#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "api/quantity.h"
#include "generated/go_duration.h"
#include "generated/go_reading.h"
#include "json/field_list.h"

namespace pintle::generated {

// A named string type of Go.
template <typename T>
concept GoNamedText = requires(const T& t) {
  { T::kGoName } -> std::convertible_to<std::string_view>;
  { t.text } -> std::convertible_to<std::string_view>;
}
&&!json::Described<T>;

template <typename T>
concept GoStruct = json::Described<T> && requires {
  { T::kGoName } -> std::convertible_to<std::string_view>;
};

// The names in Go of lists and of maps with elements of the type T.  Specialise these variables where Go declares such
// a type with a name; by default, the name is composed, such as "[]string".
template <typename T>
inline constexpr std::string_view kGoListName = "";
template <typename T>
inline constexpr std::string_view kGoMapName = "";

// Decodes, encodes and merges a type.  Specialise this template for types of your own.
template <typename T>
struct GoType;

template <typename T>
void GoRead(const json::Value& from, T& to, const GoPlace* place, GoReading& reading) {
  if (!reading.has_ended()) GoType<T>::Read(from, to, place, reading);
}

template <typename T>
json::Value GoWrite(const T& from) {
  return GoType<T>::Write(from);
}

template <typename T>
void GoMergeOver(T& below, const T& above) {
  GoType<T>::MergeOver(below, above);
}

// A base for types without parts: the value above replaces the value below unless the value above is empty.
template <typename T>
struct GoScalar {
  static bool IsEmpty(const T& value) { return value == T{}; }
  static json::Value Write(const T& from) { return from; }
  static void MergeOver(T& below, const T& above) {
    if (!IsEmpty(above)) below = above;
  }
};

template <>
struct GoType<std::string> : GoScalar<std::string> {
  static std::string Name() { return "string"; }
  static void Read(const json::Value& from, std::string& to, const GoPlace* place, GoReading& reading) {
    ReadAs("string", from, to, place, reading);
  }
  // Decodes a string.  `name` is the name of its type in errors.
  static void ReadAs(std::string_view name, const json::Value& from, std::string& to, const GoPlace* place,
                     GoReading& reading) {
    if (from.is_null()) return;
    if (from.is_string()) {
      to = from.text();
    } else if (auto text = reading.source() == GoSource::kYaml ? AsYamlText(from) : std::nullopt) {
      to = *std::move(text);
      if (from.type() == json::Value::Type::kReal && !std::isfinite(from.real())) reading.NoteNonFiniteText();
    } else {
      reading.ReportWrongType(from, name, place);
    }
  }
};

template <GoNamedText T>
struct GoType<T> {
  static std::string Name() { return std::string(T::kGoName); }
  static bool IsEmpty(const T& value) { return value.text.empty(); }
  static void Read(const json::Value& from, T& to, const GoPlace* place, GoReading& reading) {
    GoType<std::string>::ReadAs(T::kGoName, from, to.text, place, reading);
  }
  static json::Value Write(const T& from) { return from.text; }
  static void MergeOver(T& below, const T& above) { GoMergeOver(below.text, above.text); }
};

template <>
struct GoType<bool> : GoScalar<bool> {
  static std::string Name() { return "bool"; }
  static void Read(const json::Value& from, bool& to, const GoPlace* place, GoReading& reading) {
    if (from.is_null()) return;
    if (!from.is_boolean()) return reading.ReportWrongType(from, Name(), place);
    to = from.boolean();
  }
};

// Returns the number if it is whole and the type T can hold it; otherwise returns nullopt.
template <std::integral T>
std::optional<T> WholeNumber(const json::Value& value) {
  const auto number = NumberInJson(value);
  if (!number) return {};
  return std::visit(
      []<typename N>(N n) -> std::optional<T> {
        if constexpr (std::integral<N>) {
          if (std::in_range<T>(n)) return static_cast<T>(n);
        }
        return {};
      },
      *number);
}

template <std::integral T>
requires(!std::same_as<T, bool>) struct GoType<T> : GoScalar<T> {
  static std::string Name() { return (std::is_signed_v<T> ? "int" : "uint") + std::to_string(sizeof(T) * 8); }
  static void Read(const json::Value& from, T& to, const GoPlace* place, GoReading& reading) {
    ReadAs(Name(), from, to, place, reading);
  }
  // Decodes a whole number.  `name` is the name of its type in errors.
  static void ReadAs(std::string_view name, const json::Value& from, T& to, const GoPlace* place, GoReading& reading) {
    if (from.is_null()) return;
    if (!from.is_number()) return reading.ReportWrongType(from, name, place);
    const std::optional<T> number = WholeNumber<T>(from);
    if (!number) return reading.ReportOutOfRange(from, name, place);
    to = *number;
  }
};

template <>
struct GoType<double> : GoScalar<double> {
  static std::string Name() { return "float64"; }
  static void Read(const json::Value& from, double& to, const GoPlace* place, GoReading& reading) {
    if (from.is_null()) return;
    if (!from.is_number()) return reading.ReportWrongType(from, Name(), place);
    to = from.real();
  }
};

// As in Go, a duration is decoded only from a string; any other value, even null, is an error.
template <>
struct GoType<GoDuration> {
  static std::string Name() { return "v1.Duration"; }
  static bool IsEmpty(const GoDuration&) { return false; }
  static void Read(const json::Value& from, GoDuration& to, const GoPlace* place, GoReading& reading) {
    if (!from.is_null() && !from.is_string()) return reading.FailOnType(from, "string", place);
    const Result<GoDuration> duration = ParseGoDuration(from.is_null() ? std::string_view() : from.text());
    if (!duration) return reading.Fail(duration.error().message());
    to = *duration;
  }
  static json::Value Write(const GoDuration& from) { return GoText(from); }
  static void MergeOver(GoDuration& below, const GoDuration& above) {
    GoMergeOver(below.nanoseconds, above.nanoseconds);
  }
};

template <>
struct GoType<api::Quantity> {
  static std::string Name() { return "resource.Quantity"; }
  static bool IsEmpty(const api::Quantity&) { return false; }
  static void Read(const json::Value& from, api::Quantity& to, const GoPlace*, GoReading& reading) {
    if (from.is_null()) return void(to = {});
    Result<api::Quantity> quantity = api::Quantity::FromJson(from);
    if (!quantity) return reading.Fail(quantity.error().message());
    to = *std::move(quantity);
  }
  static json::Value Write(const api::Quantity& from) { return from.text(); }
  // The operator's merge library cannot look into a quantity, so the value below stays.
  static void MergeOver(api::Quantity&, const api::Quantity&) {}
};

// A pointer.  If both pointers are set, the values that they point at are merged.  If only one pointer is set, the
// result is this pointer.
template <typename T>
struct GoType<std::optional<T>> {
  static std::string Name() { return GoType<T>::Name(); }
  static bool IsEmpty(const std::optional<T>& value) { return !value; }
  static void Read(const json::Value& from, std::optional<T>& to, const GoPlace* place, GoReading& reading) {
    if (from.is_null()) return to.reset();
    if (!to) to.emplace();
    GoRead(from, *to, place, reading);
  }
  static json::Value Write(const std::optional<T>& from) { return from ? GoWrite(*from) : json::Value(); }
  static void MergeOver(std::optional<T>& below, const std::optional<T>& above) {
    if (!above) return;
    if (below) return GoMergeOver(*below, *above);
    below = above;
  }
};

template <typename T>
struct GoType<std::vector<T>> {
  static std::string Name() { return kGoListName<T>.empty() ? "[]" + GoType<T>::Name() : std::string(kGoListName<T>); }
  static bool IsEmpty(const std::vector<T>& value) { return value.empty(); }
  static void Read(const json::Value& from, std::vector<T>& to, const GoPlace* place, GoReading& reading) {
    if (from.is_null()) return to.clear();
    if (!from.is_array()) return reading.ReportWrongType(from, Name(), place);
    to.clear();
    for (const json::Value& element : from) GoRead(element, to.emplace_back(), place, reading);
  }
  static json::Value Write(const std::vector<T>& from) {
    json::Value to = json::Value::array();
    for (const T& element : from) to.push_back(GoWrite(element));
    return to;
  }
  static void MergeOver(std::vector<T>& below, const std::vector<T>& above) {
    if (!above.empty()) below = above;
  }
};

template <typename T>
struct GoType<std::map<std::string, T>> {
  static std::string Name() {
    return kGoMapName<T>.empty() ? "map[string]" + GoType<T>::Name() : std::string(kGoMapName<T>);
  }
  static bool IsEmpty(const std::map<std::string, T>& value) { return value.empty(); }
  static void Read(const json::Value& from, std::map<std::string, T>& to, const GoPlace* place, GoReading& reading) {
    if (from.is_null()) return to.clear();
    if (!from.is_object()) return reading.ReportWrongType(from, Name(), place);
    for (const auto& [key, value] : from.members()) GoRead(value, to[key] = T{}, place, reading);
  }
  static json::Value Write(const std::map<std::string, T>& from) {
    json::Value to = json::Value::object();
    for (const auto& [key, value] : from) to[key] = GoWrite(value);
    return to;
  }
  static void MergeOver(std::map<std::string, T>& below, const std::map<std::string, T>& above) {
    for (const auto& [key, value] : above) below[key] = value;
  }
};

// Returns the embedded struct that has a field, or "" if the field is the struct's own.
template <typename T>
std::string_view EmbeddedWith(std::string_view field) {
  if constexpr (requires { T::Embedding(field); }) {
    return T::Embedding(field);
  } else {
    return {};
  }
}

template <GoStruct T>
struct GoType<T> {
  static std::string Name() { return std::string(T::kGoName); }
  static bool IsEmpty(const T&) { return false; }

  static void Read(const json::Value& from, T& to, const GoPlace* place, GoReading& reading) {
    if (from.is_null()) return;
    if (!from.is_object()) return reading.ReportWrongType(from, Name(), place);
    for (const auto& [key, value] : from.members()) {
      const std::string_view name = FieldFor(key);
      if (!name.empty()) ReadField(name, value, to, place, reading);
    }
  }

  static json::Value Write(const T& from) {
    json::Value to = json::Value::object();
    json::ForEachField<T>([&](const auto& field) {
      const auto& member = from.*field.member;
      using Member = std::remove_cvref_t<decltype(member)>;
      if (field.kIsRequired || !GoType<Member>::IsEmpty(member)) to[field.name] = GoWrite(member);
    });
    return to;
  }

  static void MergeOver(T& below, const T& above) {
    json::ForEachField<T>([&](const auto& field) { GoMergeOver(below.*field.member, above.*field.member); });
  }

 private:
  // Returns the name of the field into which Go decodes a key, or "" if there is none.
  static std::string_view FieldFor(std::string_view key) {
    std::string_view exact;
    std::string_view folded;
    json::ForEachField<T>([&](const auto& field) {
      if (field.name == key) exact = field.name;
      if (folded.empty() && FoldsTo(key, field.name)) folded = field.name;
    });
    return exact.empty() ? folded : exact;
  }

  static void ReadField(std::string_view name, const json::Value& value, T& to, const GoPlace* place,
                        GoReading& reading) {
    const GoPlace inside{.above = place, .struct_name = T::kGoName, .embedded = EmbeddedWith<T>(name), .field = name};
    json::ForEachField<T>([&](const auto& field) {
      if (field.name == name) GoRead(value, to.*field.member, &inside, reading);
    });
  }
};

}  // namespace pintle::generated
