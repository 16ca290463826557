// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decodes objects of kinds that Kubernetes and other projects define.
//
// A Kubernetes object has far more keys than we use, and gets new ones with every release.  A struct with `static
// constexpr bool kLenient = true` decodes the keys that it lists and silently ignores the others.  A key that is
// missing or null leaves the member at its default.  In such a struct, `Required` does not mean that the key has to
// exist: it means that the member is always written, as in Go without `omitempty`.

#include <utility>

#include "json/field_list.h"
#include "json/field_rows.h"
#include "json/report.h"
#include "json/value.h"

namespace pintle::api {

template <typename T>
concept Lenient = json::Described<T> && T::kLenient;

}  // namespace pintle::api

namespace pintle::json {

template <api::Lenient T>
struct Codec<T> {
  static void Decode(Value&& from, T& to, const Path& path, Report& report) {
    internal::DecodeLeniently(internal::Rows<T>::Get().rows(), std::move(from), &to, path, report);
  }

  static Value Encode(const T& from) {
    const auto& rows = internal::Rows<T>::Get();
    return internal::EncodeRows(rows.rows(), &from, &rows.default_object());
  }
};

}  // namespace pintle::json
