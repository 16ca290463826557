// SPDX-License-Identifier: Apache-2.0
#pragma once

// A field of a Kubernetes object that has bytes in base64, for example a key.
//
// Decoding converts the text to the form in which Go programs write base64: with padding, and without line breaks.

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
      const auto offset = FindBase64Problem(from.text());
      report.Error(path, "illegal base64 data at input byte " + std::to_string(offset.value_or(0)));
    }
  }
  static Value Encode(const api::Base64Text& from) { return from.text; }
};

}  // namespace pintle::json
