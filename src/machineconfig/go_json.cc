// SPDX-License-Identifier: Apache-2.0
#include "machineconfig/go_json.h"

#include <fmt/core.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "json/fields.h"

namespace pintle::machineconfig {
namespace {

// How many bytes each byte of a text becomes.  Go escapes what HTML would take for markup.
constexpr auto kLengths = [] {
  std::array<std::uint8_t, 256> lengths{};
  for (std::size_t i = 0; i < lengths.size(); ++i) lengths[i] = i < 0x20 ? 6 : 1;
  for (const char c : {'<', '>', '&'}) lengths[static_cast<unsigned char>(c)] = 6;
  for (const char c : {'"', '\\', '\b', '\f', '\n', '\r', '\t'}) lengths[static_cast<unsigned char>(c)] = 2;
  return lengths;
}();

// U+2028 and U+2029, which are escaped too: six bytes for three.
bool IsLineBreakOfJavaScript(std::string_view text, std::size_t at) {
  const std::string_view character = text.substr(at, 3);
  return character == "\xE2\x80\xA8" || character == "\xE2\x80\xA9";
}

std::size_t LengthOf(std::string_view text) {
  std::size_t length = 2;
  for (const char c : text) length += kLengths[static_cast<unsigned char>(c)];
  for (std::size_t at = text.find('\xE2'); at != std::string_view::npos; at = text.find('\xE2', at + 1)) {
    if (IsLineBreakOfJavaScript(text, at)) length += 3;
  }
  return length;
}

}  // namespace

std::string GoJson(const json::Value& value) {
  // What is escaped stands in texts only, so that it can be found without knowing JSON.
  std::string escaped;
  const std::string text = json::ToText(value);
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '<' || c == '>' || c == '&') {
      escaped += fmt::format("\\u{:04x}", c);
    } else if (IsLineBreakOfJavaScript(text, at)) {
      escaped += fmt::format("\\u202{:x}", static_cast<unsigned char>(text[at + 2]) & 0xF);
      at += 2;
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::size_t GoJsonLength(const json::Value& value) {
  if (value.is_string()) return LengthOf(value.get_ref<const std::string&>());
  if (!value.is_structured()) return json::ToText(value).size();
  std::size_t length = 2 + (value.empty() ? 0 : value.size() - 1);  // The brackets, and the commas.
  if (value.is_array()) {
    for (const json::Value& element : value) length += GoJsonLength(element);
  } else {
    for (const auto& [key, member] : value.get_ref<const json::Value::object_t&>()) {
      length += LengthOf(key) + 1 + GoJsonLength(member);
    }
  }
  return length;
}

std::size_t GoJsonLength(const api::MachineConfig& config) {
  api::MachineConfig rest = {config.api_version, config.kind, config.metadata, {}};
  rest.spec.os_image_url = config.spec.os_image_url;
  rest.spec.base_os_extensions_container_image = config.spec.base_os_extensions_container_image;
  rest.spec.kernel_arguments = config.spec.kernel_arguments;
  rest.spec.extensions = config.spec.extensions;
  rest.spec.fips = config.spec.fips;
  rest.spec.kernel_type = config.spec.kernel_type;
  const std::size_t of_null = GoJsonLength(rest.spec.config);
  return GoJsonLength(json::Encode(rest)) - of_null + GoJsonLength(config.spec.config);
}

}  // namespace pintle::machineconfig
