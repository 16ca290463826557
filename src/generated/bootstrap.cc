// SPDX-License-Identifier: Apache-2.0
#include "generated/bootstrap.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <span>
#include <string_view>
#include <utility>

#include "generated/container_runtime.h"
#include "generated/feature_gates.h"
#include "generated/image_files.h"
#include "generated/kubelet_bootstrap.h"
#include "generated/kubelet_validation.h"
#include "generated/pool_templates.h"
#include "generated/pull_secret.h"
#include "generated/render_config.h"
#include "generated/runtime_templates.h"
#include "generated/templates.h"
#include "generated/tls_settings.h"

namespace pintle::generated {
namespace {

// The version that components of OpenShift have if they were not built for a release.
constexpr const char* kUnreleased = "0.0.1-snapshot";

// Makes the configs, one kind of input after the other.
class BootstrapGenerator {
 public:
  BootstrapGenerator(const Manifests& manifests, const TemplateFolder& templates, const BootstrapSettings& settings)
      : manifests_(manifests),
        templates_(templates),
        settings_(settings),
        spec_((*manifests.controller_config)["spec"]),
        tls_(TlsSettingsOf(manifests.api_server ? &*manifests.api_server : nullptr)),
        kubelet_templates_(templates, spec_, tls_),
        runtime_templates_(templates, spec_, {}) {
    for (const PoolManifest& manifest : manifests.pools) pools_.push_back(manifest.pool);
  }

  Result<BootstrapConfigs> Make() && {
    FeatureGates gates;
    const MadeFromFilter& only = settings_.only;
    if (!only.Is(MadeFrom::kTemplates)) {
      gates = TRY(FeatureGatesOf(*manifests_.feature_gate, settings_.release), "error creating feature gates handler");
    }
    if (only.Has(MadeFrom::kTemplates)) TRY(AddTemplates());
    if (only.Has(MadeFrom::kImages)) TRY(AddRegistries(IsOpen(gates, "SigstoreImageVerification")));
    if (only.Has(MadeFrom::kRuntimeConfigs)) TRY(AddRuntimeConfigs(IsOpen(gates, "AdditionalStorageConfig")));
    TRY(AddKubeletConfigs(gates));
    return std::move(made_);
  }

 private:
  Result<> AddTemplates() {
    std::string secret = settings_.pull_secret;
    if (manifests_.has_release_image) {
      const api::Secret* const registry = manifests_.release_registry ? &*manifests_.release_registry : nullptr;
      secret = TRY(WithReleaseRegistry(std::move(secret), registry, spec_.TextAt({"dns", "spec", "baseDomain"})));
    }
    const RenderConfig config(spec_, TRY(CompactPullSecret(secret)), tls_);
    auto configs = TRY(MachineConfigsOfTemplates(templates_, config, settings_.controller_version));
    for (MachineConfig& of_template : configs) {
      of_template.owner_references = {OwnerOfTemplates(*manifests_.controller_config)};
    }
    Add(std::move(configs));
    return {};
  }

  // Unlike in a running cluster, every pool gets a config, even if there is no Image.
  Result<> AddRegistries(bool verifies_signatures) {
    ImageInputs inputs{.image = manifests_.image ? &*manifests_.image : nullptr,
                       .release_image = spec_.TextAt({"releaseImage"}),
                       .mirrors = manifests_.Mirrors(),
                       .cluster_policies = {},
                       .namespace_policies = {}};
    if (verifies_signatures) {
      inputs.cluster_policies = manifests_.cluster_policies;
      inputs.namespace_policies = manifests_.namespace_policies;
    }
    ImageRules rules = TRY(ImageRulesOf(inputs, ImagesFor::kBootstrap));
    made_.complaints = std::move(rules.complaints);
    for (const api::MachineConfigPool& pool : pools_) {
      const RuntimeTemplates templates =
          TRY(RuntimeTemplatesFor(runtime_templates_, pool.metadata.name), kNoTemplatesForImages);
      made_.configs.push_back(RegistriesConfigAtBootstrap(pool, TRY(FilesOf(rules, templates))));
    }
    return {};
  }

  Result<> AddRuntimeConfigs(bool uses_stores) {
    if (manifests_.runtime_configs.empty()) return {};
    std::map<std::string, RuntimeTemplates> templates;
    for (const api::MachineConfigPool& pool : pools_) {
      const std::string& name = pool.metadata.name;
      templates[name] = TRY(RuntimeTemplatesFor(runtime_templates_, name), kNoTemplatesForRuntimeConfigs);
    }
    std::vector<PoolWithTemplates> pools;
    for (const api::MachineConfigPool& pool : pools_) pools.push_back({&pool, &templates[pool.metadata.name]});
    RuntimeConfigs made = TRY(RuntimeConfigsAtBootstrap(
        manifests_.runtime_configs, pools, uses_stores ? AdditionalStores::kUsed : AdditionalStores::kUnused,
        settings_.controller_version));
    Add(std::move(made.configs));
    std::move(made.complaints.begin(), made.complaints.end(), std::back_inserter(made_.complaints));
    return {};
  }

  Result<> AddKubeletConfigs(const FeatureGates& gates) {
    const api::NodeSettings node = manifests_.node_settings.value_or(api::NodeSettings());
    const KubeletSettings settings{.feature_gates = gates,
                                   .worker_latency_profile = node.spec.worker_latency_profile,
                                   .cgroup_mode = node.spec.cgroup_mode,
                                   .controller_version = settings_.controller_version};
    const TemplatesFor templates_for = [this](const std::string& pool) -> Result<std::vector<MachineConfig>> {
      const std::span<const MachineConfig> configs = TRY(kubelet_templates_.For(pool));
      return std::vector<MachineConfig>(configs.begin(), configs.end());
    };
    const MadeFromFilter& only = settings_.only;
    if (only.Has(MadeFrom::kFeatureGate)) Add(TRY(BootstrapFeatureConfigs(pools_, templates_for, settings)));
    if (only.Has(MadeFrom::kNodeSettings)) Add(TRY(BootstrapNodeConfigs(pools_, templates_for, settings)));
    if (only.Has(MadeFrom::kKubeletConfigs)) {
      Add(TRY(BootstrapKubeletConfigs(manifests_.kubelet_configs, pools_, templates_for, settings)));
    }
    return {};
  }

  void Add(std::vector<MachineConfig> configs) {
    std::move(configs.begin(), configs.end(), std::back_inserter(made_.configs));
  }

  const Manifests& manifests_;
  const TemplateFolder& templates_;
  const BootstrapSettings& settings_;
  const json::Value& spec_;
  const TlsSettings tls_;
  PoolTemplates kubelet_templates_;
  PoolTemplates runtime_templates_;
  std::vector<api::MachineConfigPool> pools_;
  BootstrapConfigs made_;
};

}  // namespace

std::string ReleaseOf(const json::Value& controller_config) {
  const std::string& release =
      controller_config.TextAt({"metadata", "annotations", api::kReleaseImageVersionAnnotation});
  return release.empty() ? kUnreleased : release;
}

Result<> CheckKubeletAndRuntimeConfigs(const Manifests& manifests) {
  const auto place = [&](std::string_view kind, std::string_view name) {
    return fmt::format("{}: {} {}", manifests.PlaceOf(kind, name), kind, name);
  };
  for (const api::KubeletConfig& object : manifests.kubelet_configs) {
    TRY(Validate(object), place(api::KubeletConfig::kKind, object.metadata.name));
  }
  for (const api::ContainerRuntimeConfig& object : manifests.runtime_configs) {
    TRY(CheckContainerRuntimeConfig(object), place(api::ContainerRuntimeConfig::kKind, object.metadata.name));
  }
  return {};
}

Result<BootstrapConfigs> ConfigsAtBootstrap(const Manifests& manifests, const TemplateFolder& templates,
                                            const BootstrapSettings& settings) {
  return BootstrapGenerator(manifests, templates, settings).Make();
}

}  // namespace pintle::generated
