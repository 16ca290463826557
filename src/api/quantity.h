// SPDX-License-Identifier: Apache-2.0
#pragma once

// A quantity of Kubernetes, such as "10Gi", "1500m" or "1e9".  Its text and its number are those that the Go code of
// Kubernetes computes, even where that code makes a mistake, because they end up in files whose bytes are compared.
// There is one exception: an exponent of more than 32 bits is an error here, whereas Kubernetes uses its lowest 32
// bits.
//
// The text is in canonical form, for example "512Mi" for "0.5Gi".  But Kubernetes checks short texts only roughly, and
// keeps some of them although they are not in canonical form.

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
  // The messages of errors are those of Kubernetes.
  static Result<Quantity> Parse(std::string_view text);
  // Decodes a text or a number.  As in Kubernetes, spaces around a text are ignored.
  static Result<Quantity> FromJson(const json::Value& value);

  bool operator==(const Quantity&) const = default;

  const std::string& text() const { return text_; }

  // Returns whether the number is 0.  Unlike value(), this is right even for a number that does not fit into 64 bits.
  bool is_zero() const { return text_ == "0"; }

  // Returns the quantity as a whole number, rounded away from zero.  As in Kubernetes, a number that does not fit into
  // 64 bits becomes
  // - the largest number of 64 bits, if the suffix is a power of two;
  // - 0 or its lowest 64 bits, if the text has another suffix or none.
  // The value of a negative number is wrong if the text has more than 18 digits, or more than 14 with a suffix that is
  // a power of two.
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
    auto quantity = api::Quantity::FromJson(from);
    if (!quantity) return report.Error(path, quantity.error().message());
    to = *std::move(quantity);
  }
  static Value Encode(const api::Quantity& from) { return from.text(); }
};

}  // namespace pintle::json
