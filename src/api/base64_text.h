// SPDX-License-Identifier: Apache-2.0
#pragma once

// Bytes that an object has in base64, such as a key.
//
// The text is kept as Go programs write it: with padding, and without line breaks.

#include <string>

#include "base/base64.h"
#include "json/field_list.h"

namespace pintle::api {

struct Base64Text {
  std::string text;

  bool operator==(const Base64Text&) const = default;
};

}  // namespace pintle::api

namespace pintle::json {

template <>
struct Codec<api::Base64Text> {
  static void Decode(Value&& from, api::Base64Text& to, const Path& path, Report& report) {
    if (!from.is_string()) return report.Error(path, "must be a text in base64");
    const auto bytes = DecodeBase64(from.text());
    if (bytes) {
      to.text = EncodeBase64(*bytes);
    } else {
      const auto problem = FindBase64Problem(from.text());
      report.Error(path, "illegal base64 data at input byte " + std::to_string(problem.value_or(0)));
    }
  }
  static Value Encode(const api::Base64Text& from) { return from.text; }
};

}  // namespace pintle::json
