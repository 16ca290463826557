// SPDX-License-Identifier: Apache-2.0
#pragma once

// The progress of an activity that takes minutes, for those who wait for it.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace pintle::host {

struct HowFar {
  std::string doing;                          // "fetching quay.io/os@sha256:4f0a..."
  std::string part = {};                      // The current part of it, such as "downloading".
  std::optional<std::uint32_t> percent = {};  // How much of that part is done, 0 to 100; nullopt if that is not known.

  bool operator==(const HowFar&) const = default;
};

// Called by the working thread, which continues when this returns.
using TellHowFar = std::function<void(const HowFar& how_far)>;

// Returns a text such as "fetching quay.io/os@sha256:4f0a...: downloading, 43 %".
std::string InWords(const HowFar& how_far);

// Returns the text without the activity: "downloading, 43 %".
std::string PartInWords(const HowFar& how_far);

// Rounds down, so that only everything is 100.  Returns nullopt if `all` is 0.
std::optional<std::uint32_t> PercentOf(std::uint64_t done, std::uint64_t all);

}  // namespace pintle::host
