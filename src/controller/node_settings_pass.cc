// SPDX-License-Identifier: Apache-2.0
#include "controller/node_settings_pass.h"

#include <fmt/core.h>

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "api/annotations.h"
#include "controller/config_outcome.h"
#include "generated/feature_gates.h"
#include "generated/kubelet_configs.h"
#include "generated/latency_profile.h"
#include "generated/managed_names.h"
#include "generated/read_back.h"
#include "json/go_json.h"

namespace pintle::controller {
namespace {

// The word by which the names of generated configs of kubelets are recognized.
constexpr std::string_view kKubeletWord = "kubelet";

// Returns the release whose feature gates apply: the release of the ControllerConfig or of the ClusterVersion,
// whichever the FeatureGate lists.  During an update, the FeatureGate may list neither of them yet; if it lists a
// single release, the gates of that release apply.  Otherwise returns a release that the FeatureGate does not list, or
// "".
std::string ReleaseOf(const GenerateInputs& inputs) {
  std::vector<std::string> candidates;
  if (inputs.view.controller_config != nullptr) {
    candidates.push_back(inputs.view.controller_config->metadata.Annotation(api::kReleaseImageVersionAnnotation));
  }
  if (const ClusterVersion* version = inputs.sources.cluster_version) {
    candidates.push_back(version->status.desired.version);
  }
  std::erase(candidates, "");
  const auto& releases = inputs.sources.feature_gate->status.feature_gates;
  for (const std::string& candidate : candidates) {
    const auto is_candidate = [&](const auto& release) { return release.version == candidate; };
    if (std::any_of(releases.begin(), releases.end(), is_candidate)) return candidate;
  }
  if (releases.size() == 1) return releases.front().version;
  return candidates.empty() ? "" : candidates.front();
}

// Decides about one config for each pool, whose name begins with `number`.
class NumberedConfigs {
 public:
  NumberedConfigs(const GenerateInputs& inputs, std::string_view number, MadeFrom from, GenerateChanges& changes)
      : inputs_(inputs), number_(number), from_(from), changes_(changes) {}

  void Add(const api::MachineConfigPool& pool, const Result<generated::MachineConfig>& made) {
    if (!made) {
      is_complete_ = false;
      return changes_.problems.push_back(
          {.made_from = from_,
           .what = fmt::format("making the {}- config of pool {}", number_, pool.metadata.name),
           .why = made.error().message()});
    }
    inputs_.ReportMade(from_, *made);
    wanted_.insert(made->name);
    const OwnedParts parts = made->kernel_arguments ? OwnedParts::kConfigAndArguments : OwnedParts::kConfig;
    const ConfigOutcome outcome = WriteUnlessAwaited(*made, parts, from_, inputs_, changes_);
    is_complete_ = is_complete_ && outcome.is_in_place;
    const api::MachineConfig* const old =
        inputs_.ConfigNamed(generated::OldConfigName(number_, pool.metadata, kKubeletWord));
    if (old != nullptr && inputs_.ConfigNamed(made->name) != nullptr) Remove(*old);
  }

  // Removes the configs that another version of the controller has made for pools that are gone.
  void RemoveStale() {
    if (!is_complete_) return;
    for (const api::MachineConfig* config : inputs_.view.configs) {
      const bool is_stale = generated::IsMadeByAnotherVersion(config->metadata, number_, kKubeletWord, inputs_.version);
      if (is_stale && !wanted_.contains(config->metadata.name)) Remove(*config);
    }
  }

 private:
  void Remove(const api::MachineConfig& config) {
    changes_.removals.push_back({.name = config.metadata.name, .uid = config.metadata.uid});
  }

  const GenerateInputs& inputs_;
  const std::string_view number_;
  const MadeFrom from_;
  GenerateChanges& changes_;
  std::set<std::string, std::less<>> wanted_;  // The names of the configs that are made.
  bool is_complete_ = true;                    // All configs were made, and the cluster has them.
};

std::vector<std::string> ArgumentsOf(const api::MachineConfig* config) {
  return config == nullptr ? std::vector<std::string>()
                           : config->spec.kernel_arguments.value_or(std::vector<std::string>());
}

Result<std::span<const generated::MachineConfig>> TemplatesFor(const std::string& pool,
                                                               generated::PoolTemplates& templates) {
  return TRY(templates.For(pool), generated::kKubeletTemplatesFailed);
}

}  // namespace

Result<generated::KubeletSettings> KubeletSettingsOf(const GenerateInputs& inputs) {
  generated::KubeletSettings settings;
  settings.controller_version = inputs.version;
  if (inputs.sources.feature_gate != nullptr) {
    settings.feature_gates = TRY(generated::FeatureGatesOf(*inputs.sources.feature_gate, ReleaseOf(inputs)));
  }
  if (inputs.sources.node_settings != nullptr) {
    settings.worker_latency_profile = inputs.sources.node_settings->spec.worker_latency_profile;
    settings.cgroup_mode = inputs.sources.node_settings->spec.cgroup_mode;
  }
  return settings;
}

std::optional<std::string> HoldLatencyProfile(const GenerateInputs& inputs, generated::KubeletSettings& settings) {
  const api::MachineConfig* const config = inputs.ConfigNamed(generated::NodeConfigName(api::kWorkerPool));
  if (config == nullptr) return std::nullopt;
  generated::MachineConfig known;
  known.config = json::GoJson(config->spec.config);
  const auto text = generated::ContentsOfFile({&known, 1}, generated::kKubeletConfPath);
  const auto kubelet = text ? generated::ParseKubeletConf(*text) : Error(ErrorKind::kNotFound, "");
  if (!kubelet) return std::nullopt;
  const std::string profile(generated::LatencyProfileOf(*kubelet));
  auto why = generated::TransitionError(profile, settings.worker_latency_profile);
  if (why) settings.worker_latency_profile = profile;
  return why;
}

void NodeSettingsPass(const GenerateInputs& inputs, generated::PoolTemplates& templates,
                      const generated::KubeletSettings& settings, GenerateChanges& changes) {
  NumberedConfigs of_nodes(inputs, "97", MadeFrom::kNodeSettings, changes);
  NumberedConfigs of_features(inputs, "98", MadeFrom::kFeatureGate, changes);
  const bool has_nodes = inputs.sources.node_settings != nullptr && inputs.only.Has(MadeFrom::kNodeSettings);
  const bool has_features = inputs.sources.feature_gate != nullptr && inputs.only.Has(MadeFrom::kFeatureGate);
  for (const api::MachineConfigPool* pool : inputs.view.pools) {
    if (pool->metadata.deletion_timestamp) continue;
    const std::string& role = pool->metadata.name;
    const auto role_templates = TemplatesFor(role, templates);
    if (has_nodes) {
      const api::MachineConfig* const known = inputs.ConfigNamed(generated::NodeConfigName(role));
      of_nodes.Add(*pool, role_templates ? generated::NodeConfig(role, *role_templates, settings, ArgumentsOf(known))
                                         : Result<generated::MachineConfig>(role_templates.error()));
    }
    if (has_features) {
      of_features.Add(*pool, role_templates ? generated::FeatureConfig(role, *role_templates, settings)
                                            : Result<generated::MachineConfig>(role_templates.error()));
    }
  }
  if (has_nodes) of_nodes.RemoveStale();
  if (has_features) of_features.RemoveStale();
}

}  // namespace pintle::controller
