// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decodes objects that others define.
//
// A Kubernetes object has far more keys than we use, and gets new ones with every release.  A struct with `static
// constexpr bool kLenient = true` decodes the keys that it lists and silently ignores the others.  A key that is
// missing or null leaves the member at its default.  In such a struct, `Required` does not mean that the key has to
// exist: it means that the member is always written, as in Go without `omitempty`.

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
    static const T kDefault{};
    Value to = Value::object();
    ForEachField<T>([&](const auto& field) {
      const bool is_written = field.kIsRequired || !Equal(from.*field.member, kDefault.*field.member);
      if (is_written) to[std::string(field.name)] = json::Encode(from.*field.member);
    });
    return to;
  }
};

}  // namespace pintle::json
