// SPDX-License-Identifier: Apache-2.0

// A value that was parsed from YAML and written as JSON is parsed from this JSON as the same value.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "json/parse.h"
#include "machineconfig/yaml.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using pintle::machineconfig::ParseYaml;
  pintle::json::Report report;
  // The limits are small, so that the fuzzer soon exceeds them.
  const pintle::json::ParseLimits limits{.depth = 50, .bytes = 1 << 20};
  const auto documents = ParseYaml(std::string_view(reinterpret_cast<const char*>(data), size), &report, limits);
  if (!documents) {
    if (documents.error().message().empty()) std::abort();
    return 0;
  }
  for (const pintle::json::Value& document : *documents) {
    const auto again = pintle::json::Parse(pintle::json::ToText(document));
    if (!again || *again != document) std::abort();
  }
  return 0;
}
