// SPDX-License-Identifier: Apache-2.0
#pragma once

// How far something is that takes minutes, for whoever waits for it.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace pintle::host {

struct HowFar {
  std::string doing;                          // "fetching quay.io/os@sha256:4f0a..."
  std::string part = {};                      // Which part of that: "downloading".
  std::optional<std::uint32_t> percent = {};  // Of that part, 0 to 100; nothing: it is not known.

  bool operator==(const HowFar&) const = default;
};

// Called by the thread that does it, which goes on when this returns.
using TellHowFar = std::function<void(const HowFar& how_far)>;

// "fetching quay.io/os@sha256:4f0a...: downloading, 43 %".
std::string InWords(const HowFar& how_far);

// The same without what is being done: "downloading, 43 %".
std::string PartInWords(const HowFar& how_far);

// Rounded down, so that 100 is all of it; of nothing it is not known.
std::optional<std::uint32_t> PercentOf(std::uint64_t done, std::uint64_t all);

}  // namespace pintle::host
