// SPDX-License-Identifier: Apache-2.0
#pragma once

// A quantity of Kubernetes, such as "10Gi", "1500m" or "1e9", with the text and the number that Go makes of it.
//
// The text is in canonical form, for example "512Mi" for "0.5Gi".  Kubernetes also keeps some texts that are not in
// this form, because its quick check takes them for canonical.  This class keeps the same texts, because they end up in
// files whose bytes are compared.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "json/field_list.h"
#include "json/parse.h"

namespace pintle::api {

class Quantity {
 public:
  // The error has the words of Kubernetes.
  static Result<Quantity> Parse(std::string_view text);

  bool operator==(const Quantity&) const = default;

  const std::string& text() const { return text_; }

  // Returns the quantity rounded up, away from zero, to a whole number.  As in Kubernetes, a number that does not fit
  // becomes 0 if it has at most 18 digits, and otherwise its lowest 64 bits.
  std::int64_t value() const { return value_; }

 private:
  std::string text_ = "0";
  std::int64_t value_ = 0;
};

}  // namespace pintle::api

namespace pintle::json {

template <>
struct Codec<api::Quantity> {
  static void Decode(Value&& from, api::Quantity& to, const Path& path, Report& report) {
    if (!from.is_string() && !from.is_number()) return report.Error(path, "must be a quantity such as \"10Gi\"");
    auto quantity = api::Quantity::Parse(from.is_string() ? from.text() : ToText(from));
    if (!quantity) return report.Error(path, quantity.error().message());
    to = *std::move(quantity);
  }
  static Value Encode(const api::Quantity& from) { return from.text(); }
};

}  // namespace pintle::json
