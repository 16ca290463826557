// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decodes objects that others define.
//
// A Kubernetes object has far more keys than we use, and gets new ones with every release.  A struct with `static
// constexpr bool kLenient = true` takes the keys that it lists and silently ignores the others; a key that is missing,
// or null, leaves the member at its default.  A `Required` member of such a struct is one that is always written, as Go
// does without `omitempty`.

#include <utility>

#include "json/field_list.h"

namespace pintle::api {

template <typename T>
concept Lenient = json::Described<T> && T::kLenient;

}  // namespace pintle::api

namespace pintle::json {

template <api::Lenient T>
struct Codec<T> {
  static void Decode(Value&& from, T& to, const Path& path, Report& report) {
    if (!from.is_object()) return report.Error(path, "must be an object");
    auto& members = from.members();
    ForEachField<T>([&](const auto& field) {
      const auto member = members.find(std::string(field.name));
      if (member == members.end() || member->second.is_null()) return;
      DecodeInto(std::move(member->second), to.*field.member, Path(path, field.name), report);
    });
  }

  static Value Encode(const T& from) {
    static const T kFresh{};
    Value to = Value::object();
    ForEachField<T>([&](const auto& field) {
      const bool is_said = field.kIsRequired || !Equal(from.*field.member, kFresh.*field.member);
      if (is_said) to[std::string(field.name)] = json::Encode(from.*field.member);
    });
    return to;
  }
};

}  // namespace pintle::json
