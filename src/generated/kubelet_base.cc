// SPDX-License-Identifier: Apache-2.0
#include "generated/kubelet_base.h"

#include <fmt/core.h>

#include <cstdint>
#include <optional>

#include "api/machine_config_pool.h"
#include "generated/read_back.h"

namespace pintle::generated {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

// How often a node reports its status, in seconds.
struct LatencyProfile {
  std::string_view name;
  std::int64_t seconds;
};

constexpr LatencyProfile kLatencyProfiles[] = {
    {"Default", 10},
    {"MediumUpdateAverageReaction", 20},
    {"LowUpdateSlowReaction", 60},
};

}  // namespace

Result<KubeletConfiguration> KubeletBase(std::span<const MachineConfig> templates, const FeatureGates& gates) {
  const std::optional<std::string> text = ReadBack(templates, kKubeletConfPath);
  if (!text) return Error(ErrorKind::kInvalid, "could not generate old kubelet config");
  KubeletConfiguration config = TRY(ParseKubeletConf(*text), "could not deserialize the Kubelet source");
  for (const auto& [gate, is_on] : gates) config.feature_gates[gate] = is_on;
  return config;
}

Result<> SetLatency(std::string_view pool, std::string_view worker_latency_profile, KubeletConfiguration& config) {
  if (pool != api::kWorkerPool || worker_latency_profile.empty()) return {};
  for (const LatencyProfile& profile : kLatencyProfiles) {
    if (profile.name != worker_latency_profile) continue;
    config.node_status_update_frequency = {profile.seconds * kSecond};
    return {};
  }
  return Error(ErrorKind::kInvalid, fmt::format("unknown worker latency profile type found {}, failed to update the "
                                                "original kubelet configuration",
                                                worker_latency_profile));
}

}  // namespace pintle::generated
