// SPDX-License-Identifier: Apache-2.0

// Merging with an empty config changes nothing, and merging two configs gives at most as many files as the two have
// together.  The input has two documents with a zero byte between them.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "ignition/config.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace ignition = pintle::ignition;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t middle = input.find('\0');
  if (middle == std::string_view::npos) return 0;
  pintle::json::Report report;
  const auto parent = ignition::Parse(input.substr(0, middle), report);
  const auto child = ignition::Parse(input.substr(middle + 1), report);
  if (!parent || !child) return 0;
  ignition::Config nothing;
  nothing.ignition.version = ignition::kNewestVersion;
  if (ignition::Encode(ignition::Merge(*parent, nothing)) != ignition::Encode(*parent)) std::abort();
  if (ignition::Encode(ignition::Merge(nothing, *child)) != ignition::Encode(*child)) std::abort();
  const ignition::Config merged = ignition::Merge(*parent, *child);
  if (merged.storage.files.size() > parent->storage.files.size() + child->storage.files.size()) std::abort();
  return 0;
}
