// SPDX-License-Identifier: Apache-2.0
#pragma once

// A semantic version: MAJOR.MINOR.PATCH, which may be followed by a pre-release and by build metadata.

#include <cstdint>
#include <optional>
#include <string_view>

namespace pintle::ignition {

struct Semver {
  std::int64_t major = 0;
  std::int64_t minor = 0;
  std::int64_t patch = 0;
  bool is_release = true;  // Whether nothing follows, such as "-experimental" or "+something".
};

// Returns nullopt for any other text.
std::optional<Semver> ParseSemver(std::string_view text);

}  // namespace pintle::ignition
