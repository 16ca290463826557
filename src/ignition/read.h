// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads a document into one of Ignition's structs as leniently as Ignition does.
//
// Upper and lower case count as equal in keys, null means "not given" everywhere, and only validation reports missing
// fields.  json::Decode() is stricter.  The document is consumed, so that contents of files are moved and not copied.

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "json/field_list.h"

namespace pintle::ignition {

// Returns whether two keys differ only in case.  As in Go, the long s (U+017F) also counts as an s, and the Kelvin sign
// (U+212A) as a k.
bool IsSameKeyInGo(std::string_view a, std::string_view b);

namespace internal {

inline void Read(json::Value&& from, std::string& to, const json::Path& path, json::Report& report) {
  if (from.is_null()) return;
  if (!from.is_string()) return report.Error(path, "must be a string");
  to = std::move(from.text());
}

inline void Read(json::Value&& from, bool& to, const json::Path& path, json::Report& report) {
  if (from.is_null()) return;
  if (!from.is_boolean()) return report.Error(path, "must be true or false");
  to = from.boolean();
}

inline void Read(json::Value&& from, std::int64_t& to, const json::Path& path, json::Report& report) {
  if (from.is_null()) return;
  if (!from.is_integer()) return report.Error(path, "must be a whole number");
  if (from.is_unsigned() && !std::in_range<std::int64_t>(from.unsigned_integer())) {
    return report.Error(path, "must be at most 9223372036854775807");
  }
  to = from.integer();
}

template <typename T>
void Read(json::Value&& from, std::optional<T>& to, const json::Path& path, json::Report& report);
template <typename T>
void Read(json::Value&& from, std::vector<T>& to, const json::Path& path, json::Report& report);
template <json::Described T>
void Read(json::Value&& from, T& to, const json::Path& path, json::Report& report);

template <typename T>
void Read(json::Value&& from, std::optional<T>& to, const json::Path& path, json::Report& report) {
  if (from.is_null()) return to.reset();
  Read(std::move(from), to.emplace(), path, report);
}

template <typename T>
void Read(json::Value&& from, std::vector<T>& to, const json::Path& path, json::Report& report) {
  if (from.is_null()) return to.clear();
  if (!from.is_array()) return report.Error(path, "must be a list");
  to.clear();
  to.reserve(from.size());
  std::size_t index = 0;
  for (json::Value& element : from) Read(std::move(element), to.emplace_back(), json::Path(path, index++), report);
}

// Reads a member into the field of that name; returns false if there is no such field.
template <json::Described T, typename SameName>
bool ReadMember(std::string_view key, json::Value& value, T& to, const json::Path& path, json::Report& report,
                SameName&& same_name) {
  bool found = false;
  json::ForEachField<T>([&](const auto& field) {
    if (found || !same_name(field.name, key)) return;
    found = true;
    Read(std::move(value), to.*field.member, json::Path(path, field.name), report);
  });
  return found;
}

template <json::Described T>
void Read(json::Value&& from, T& to, const json::Path& path, json::Report& report) {
  if (from.is_null()) return;
  if (!from.is_object()) return report.Error(path, "must be an object");
  for (auto& [key, value] : from.members()) {
    if (ReadMember(key, value, to, path, report, std::equal_to<std::string_view>())) continue;
    if (ReadMember(key, value, to, path, report, IsSameKeyInGo)) continue;
    report.Warning(json::Path(path, key), "Unused key " + key);
  }
}

}  // namespace internal

// The result may only be used if the report has no errors.
template <json::Described T>
T Read(json::Value document, json::Report& report) {
  T to{};
  internal::Read(std::move(document), to, json::Path(), report);
  return to;
}

}  // namespace pintle::ignition
