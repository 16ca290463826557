// SPDX-License-Identifier: Apache-2.0
#include "host/ostree/activity_progress.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

namespace pintle::host {
namespace {

std::string Joined(const std::string& first, const char* between, const std::string& second) {
  if (first.empty() || second.empty()) return first + second;
  return first + between + second;
}

}  // namespace

std::string InWords(const ActivityProgress& progress) { return Joined(progress.doing, ": ", PartInWords(progress)); }

std::string PartInWords(const ActivityProgress& progress) {
  return Joined(progress.part, ", ", progress.percent ? fmt::format("{} %", *progress.percent) : "");
}

std::optional<std::uint32_t> PercentOf(std::uint64_t done, std::uint64_t all) {
  constexpr std::uint64_t kWhole = 100;
  if (all == 0) return std::nullopt;
  if (done >= all) return kWhole;
  const bool is_large = all > std::numeric_limits<std::uint64_t>::max() / kWhole;
  const std::uint64_t percent = is_large ? done / (all / kWhole) : done * kWhole / all;
  return static_cast<std::uint32_t>(std::min(percent, kWhole - 1));
}

}  // namespace pintle::host
