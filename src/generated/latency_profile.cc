// SPDX-License-Identifier: Apache-2.0
#include "generated/latency_profile.h"

#include <fmt/core.h>

#include <cstdint>

#include "api/machine_config_pool.h"
#include "gotext/quote.h"

namespace pintle::generated {
namespace {

constexpr std::int64_t kNanosecondsPerSecond = 1'000'000'000;
constexpr std::string_view kFast = "Default";
constexpr std::string_view kSlow = "LowUpdateSlowReaction";

struct LatencyProfile {
  std::string_view name;
  std::int64_t seconds;
};

constexpr LatencyProfile kProfiles[] = {
    {kFast, 10},
    {"MediumUpdateAverageReaction", 20},
    {kSlow, 60},
};

bool IsFast(std::string_view profile) { return profile.empty() || profile == kFast; }

}  // namespace

Result<> SetWorkerLatency(std::string_view pool, std::string_view profile, KubeletConfiguration& config) {
  if (pool != api::kWorkerPool || profile.empty()) return {};
  for (const LatencyProfile& known : kProfiles) {
    if (known.name != profile) continue;
    config.node_status_update_frequency = {known.seconds * kNanosecondsPerSecond};
    return {};
  }
  return Error(ErrorKind::kInvalid, fmt::format("unknown worker latency profile type found {}, failed to update the "
                                                "original kubelet configuration",
                                                profile));
}

std::string_view LatencyProfileOf(const KubeletConfiguration& config) {
  for (const LatencyProfile& known : kProfiles) {
    const GoDuration frequency{known.seconds * kNanosecondsPerSecond};
    if (config.node_status_update_frequency == frequency) return known.name;
  }
  return "";
}

std::optional<std::string> TransitionError(std::string_view from, std::string_view to) {
  const bool is_too_far = (IsFast(from) && to == kSlow) || (from == kSlow && IsFast(to));
  if (!is_too_far) return {};
  return fmt::format("transition not allowed from old WorkerLatencyProfile: {} to new WorkerLatencyProfile: {}",
                     gotext::Quoted(from), gotext::Quoted(to));
}

}  // namespace pintle::generated
