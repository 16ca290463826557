// SPDX-License-Identifier: Apache-2.0

// A value that was parsed from JSON and written again is parsed as the same value.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "json/parse.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using pintle::json::Parse;
  pintle::json::Report report;
  const auto value = Parse(std::string_view(reinterpret_cast<const char*>(data), size), &report);
  if (!value) {
    if (value.error().message().empty()) std::abort();
    return 0;
  }
  const auto again = Parse(pintle::json::ToText(*value));
  if (!again || *again != *value) std::abort();
  const auto indented = Parse(pintle::json::ToIndentedText(*value));
  if (!indented || *indented != *value) std::abort();
  return 0;
}
