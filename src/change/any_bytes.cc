// SPDX-License-Identifier: Apache-2.0
#include "change/any_bytes.h"

#include <string>
#include <string_view>
#include <utility>

#include "base/base64.h"
#include "base/utf8.h"

namespace pintle::change {
namespace {

constexpr std::string_view kMark = "base64\x01";

std::string ToText(std::string bytes) {
  if (IsUtf8(bytes) && !bytes.starts_with(kMark)) return bytes;
  return std::string(kMark) + EncodeBase64(bytes);
}

Result<std::string> ToBytes(std::string text) {
  if (!text.starts_with(kMark)) return text;
  auto bytes = DecodeBase64(std::string_view(text).substr(kMark.size()));
  if (!bytes) return Error(ErrorKind::kInvalid, "a string with the mark for base64 is not valid base64");
  return *std::move(bytes);
}

// Applies a function that may fail to all strings of a document, including the names of members.
template <typename Convert>
Result<json::Value> Converted(json::Value document, const Convert& convert) {
  if (document.is_string()) return json::Value(TRY(convert(std::move(document.text()))));
  if (document.is_array()) {
    for (json::Value& element : document) element = TRY(Converted(std::move(element), convert));
  }
  if (!document.is_object()) return document;
  json::Value result = json::Value::object();
  for (auto& [name, member] : document.members()) {
    result[TRY(convert(name))] = TRY(Converted(std::move(member), convert));
  }
  return result;
}

}  // namespace

json::Value WithTextOnly(json::Value document) {
  return *Converted(std::move(document),
                    [](std::string bytes) -> Result<std::string> { return ToText(std::move(bytes)); });
}

Result<json::Value> WithAnyBytes(json::Value document) { return Converted(std::move(document), ToBytes); }

}  // namespace pintle::change
