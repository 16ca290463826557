// SPDX-License-Identifier: Apache-2.0

// A parsed config is the same after it was written and parsed again.  Its conversions to versions 3.x can be parsed.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "ignition/config.h"
#include "ignition/convert.h"
#include "ignition/v3_5/translate.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace ignition = pintle::ignition;
  namespace json = pintle::json;
  json::Report report;
  const auto config = ignition::Parse(std::string_view(reinterpret_cast<const char*>(data), size), report);
  if (!config) {
    if (config.error().message().empty()) std::abort();
    return 0;
  }
  json::Report complete;
  ignition::v3_5::Validate(*config, complete);
  // A config of an older version may lack fields that the newest version requires.
  if (complete.has_errors()) return 0;
  const json::Value document = ignition::Encode(*config);
  json::Report again;
  const auto same = ignition::Parse(document, again);
  if (!same || ignition::Encode(*same) != document) std::abort();
  for (const auto version : {ignition::SpecVersion::k3_4, ignition::SpecVersion::k3_1, ignition::SpecVersion::k2_2}) {
    const auto converted = ignition::ConvertTo(*config, version);
    if (!converted) continue;
    json::Report older;
    if (version != ignition::SpecVersion::k2_2 && !ignition::Parse(*converted, older)) std::abort();
  }
  return 0;
}
