// SPDX-License-Identifier: Apache-2.0

// Any bytes are parsed as TOML, or lead to an error with a text.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "machineconfig/toml.h"
#include "plan/registries.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto document = pintle::machineconfig::ParseToml(text);
  if (!document && document.error().message().empty()) std::abort();
  // A file that has not changed is never harmful.
  const auto harm = pintle::plan::HarmInRegistries(text, text);
  if (harm && !document) std::abort();
  return 0;
}
