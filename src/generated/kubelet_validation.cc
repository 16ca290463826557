// SPDX-License-Identifier: Apache-2.0
#include "generated/kubelet_validation.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "api/annotations.h"
#include "generated/go_reading.h"
#include "generated/invalid.h"
#include "json/go_json.h"

namespace pintle::generated {
namespace {

constexpr std::int32_t kHighestLogLevel = 10;
constexpr std::string_view kStaticPodPath = "staticPodPath";

// Returns whether a pool belongs to the control plane, by its name or its node selector.
bool IsControlPlane(const api::MachineConfigPool& pool) {
  if (pool.metadata.name == api::kMasterPool || pool.metadata.name == api::kArbiterPool) return true;
  if (!pool.spec.node_selector) return false;
  const api::LabelSelector& selector = *pool.spec.node_selector;
  if (api::Find(selector.match_labels, api::kMasterRoleLabel) != nullptr) return true;
  return std::any_of(selector.match_expressions.begin(), selector.match_expressions.end(), [](const auto& expression) {
    return expression.key == api::kMasterRoleLabel && (expression.op == "Exists" || expression.op == "In");
  });
}

// Looks for the key in the JSON, because a decoded struct does not distinguish an empty path from an absent one.
// Ignores upper and lower case, as the decoder does.
bool HasStaticPodPath(const json::Value& document) {
  if (json::GoJson(document).find(json::GoJson(kStaticPodPath)) != std::string::npos) return true;
  if (!document.is_object()) return false;
  return std::any_of(document.members().begin(), document.members().end(),
                     [](const auto& member) { return FoldsTo(member.first, kStaticPodPath); });
}

std::string GatesText(const std::map<std::string, bool>& gates) {
  std::vector<std::string> texts;
  for (const auto& [gate, is_on] : gates) texts.push_back(fmt::format("{}:{}", gate, is_on));
  return fmt::format("map[{}]", fmt::join(texts, " "));
}

// Refuses the fields that the operator sets itself.
Result<> CheckForbidden(const KubeletConfiguration& config) {
  const auto forbidden = [](std::string_view field, std::string_view value) {
    return Invalid(fmt::format("KubeletConfiguration: {} is not allowed to be set, but contains: {}", field, value));
  };
  if (!config.cgroup_driver.empty()) return forbidden("cgroupDriver", config.cgroup_driver);
  if (!config.cluster_dns.empty())
    return forbidden("clusterDNS", fmt::format("[{}]", fmt::join(config.cluster_dns, " ")));
  if (!config.cluster_domain.empty()) return forbidden("clusterDomain", config.cluster_domain);
  if (!config.feature_gates.empty()) return forbidden("featureGates", GatesText(config.feature_gates));
  if (config.fail_swap_on) return forbidden("failSwapOn", *config.fail_swap_on ? "true" : "false");
  if (!config.memory_swap.swap_behavior.empty()) return forbidden("swapBehavior", config.memory_swap.swap_behavior);
  return {};
}

// Refuses fields that contradict each other.
Result<> CheckCombinations(const api::KubeletConfigSpec& spec, const KubeletConfiguration& config) {
  if (spec.auto_sizing_reserved.value_or(false) && !config.system_reserved.empty()) {
    return Invalid("KubeletConfiguration: autoSizingReserved and systemdReserved cannot be set together");
  }
  const std::string& reserved = config.system_reserved_cgroup;
  const std::string& cgroups = config.system_cgroups;
  if (!reserved.empty() && !cgroups.empty() && reserved != cgroups) {
    return Invalid(fmt::format("KubeletConfiguration: systemReservedCgroup ({}) must match systemCgroups ({})",
                               reserved, cgroups));
  }
  return {};
}

}  // namespace

Result<KubeletConfiguration> KubeletConfigurationIn(const api::KubeletConfig& object) {
  if (object.spec.kubelet_config.is_null()) return KubeletConfiguration{};
  return ReadKubeletConfiguration(object.spec.kubelet_config);
}

Result<> Validate(const api::KubeletConfig& object) {
  if (const auto level = object.spec.log_level; level && (*level < 0 || *level > kHighestLogLevel)) {
    return Invalid(fmt::format("KubeletConfig's LogLevel is not valid [0,{}]: {}", kHighestLogLevel, *level));
  }
  if (object.spec.kubelet_config.is_null()) return {};
  Result<KubeletConfiguration> config = KubeletConfigurationIn(object);
  if (!config) return Invalid("KubeletConfig could not be unmarshalled, err: " + config.error().message());
  TRY(CheckForbidden(*config));
  return CheckCombinations(object.spec, *config);
}

Result<> ValidateForPool(const api::MachineConfigPool& pool, const api::KubeletConfig& object) {
  if (object.spec.kubelet_config.is_null()) return {};
  if (IsControlPlane(pool)) {
    if (!HasStaticPodPath(object.spec.kubelet_config)) return {};
    return Invalid(
        fmt::format("KubeletConfiguration: staticPodPath is not allowed to be set for control plane pool \"{}\"",
                    pool.metadata.name));
  }
  const KubeletConfiguration config = TRY(KubeletConfigurationIn(object));
  if (config.static_pod_path.empty()) return {};
  return Invalid(fmt::format("KubeletConfiguration: staticPodPath must be empty for pool \"{}\", but contains: {}",
                             pool.metadata.name, config.static_pod_path));
}

}  // namespace pintle::generated
