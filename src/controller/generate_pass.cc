// SPDX-License-Identifier: Apache-2.0
#include "controller/generate_pass.h"

#include <fmt/core.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "controller/credential_provider_pass.h"
#include "controller/kubelet_pass.h"
#include "controller/node_settings_pass.h"
#include "controller/registries_pass.h"
#include "controller/runtime_pass.h"
#include "controller/template_pass.h"
#include "generated/feature_gates.h"
#include "generated/tls_settings.h"

namespace pintle::controller {
namespace {

generated::TlsSettings ClusterTls(const GenerateInputs& inputs) {
  const api::ApiServer* const server = inputs.sources.api_server;
  return generated::TlsSettingsOf(server == nullptr ? std::nullopt : server->spec.tls_security_profile);
}

generated::PoolTemplates TemplatesWith(const generated::TlsSettings& tls, const GenerateInputs& inputs) {
  if (inputs.templates_from == TemplatesFrom::kCluster) return generated::PoolTemplates(inputs.view.configs);
  return generated::PoolTemplates(inputs.templates, inputs.sources.whole_controller_config->spec, tls);
}

// `why_profile_is_held` is the reason if the requested latency profile is not set at once.
void ReportProhibitions(const GenerateInputs& inputs, const std::optional<std::string>& why_profile_is_held,
                        GenerateChanges& changes) {
  if (why_profile_is_held) {
    changes.problems.push_back({.made_from = MadeFrom::kNodeSettings,
                                .what = "applying the Node \"cluster\" of config.openshift.io",
                                .why = *why_profile_is_held,
                                .is_warning = true});
    changes.prohibitions.push_back(
        {.node = "cluster", .message = "Skipping the Update Node event, name: cluster, " + *why_profile_is_held});
  }
  for (const api::NodeSettings* settings : inputs.sources.other_node_settings) {
    const std::string& name = settings->metadata.name;
    changes.prohibitions.push_back(
        {.node = name,
         .message = fmt::format("The Node {} of config.openshift.io has no effect, since only the Node that is named "
                                "cluster is used; change that Node",
                                name)});
  }
}

}  // namespace

GenerateChanges GeneratePass(const GenerateInputs& inputs) {
  GenerateChanges changes;
  const auto add_problem = [&](MadeFrom made_from, std::string_view what, std::string why) {
    changes.problems.push_back({.made_from = made_from, .what = std::string(what), .why = std::move(why)});
  };
  const SourcesView& sources = inputs.sources;
  // Nobody else removes these finalizers, so a deletion does not wait until configs can be made.
  if (inputs.only.Has(MadeFrom::kKubeletConfigs)) CleanUpKubeletConfigs(inputs, changes);
  if (inputs.only.Has(MadeFrom::kRuntimeConfigs)) CleanUpRuntimeConfigs(inputs, changes);
  if (!sources.why_settings_are_unreadable.empty()) {
    add_problem(MadeFrom::kTemplates, "generating MachineConfigs", sources.why_settings_are_unreadable);
    return changes;
  }
  if (sources.whole_controller_config == nullptr || inputs.view.controller_config == nullptr) return changes;
  const bool has_folder = inputs.templates_from == TemplatesFrom::kFolder;
  if (has_folder && inputs.only.Has(MadeFrom::kTemplates)) TemplatePass(inputs, changes);
  if (inputs.only.Is(MadeFrom::kTemplates)) return changes;
  auto settings = KubeletSettingsOf(inputs);
  if (!settings) {
    add_problem(MadeFrom::kFeatureGate, "reading the feature gates", settings.error().message());
    return changes;
  }
  ReportProhibitions(inputs, HoldLatencyProfile(inputs, *settings), changes);

  generated::PoolTemplates for_kubelets = TemplatesWith(ClusterTls(inputs), inputs);
  NodeSettingsPass(inputs, for_kubelets, *settings, changes);
  if (inputs.only.Has(MadeFrom::kKubeletConfigs)) KubeletPass(inputs, for_kubelets, *settings, changes);
  generated::PoolTemplates for_runtime = TemplatesWith({}, inputs);
  if (inputs.only.Has(MadeFrom::kRuntimeConfigs)) {
    const bool uses_stores = generated::IsOpen(settings->feature_gates, "AdditionalStorageConfig");
    RuntimePass(inputs, for_runtime,
                uses_stores ? generated::AdditionalStores::kUsed : generated::AdditionalStores::kUnused, changes);
  }
  if (inputs.only.Has(MadeFrom::kImages)) {
    if (sources.why_images_are_unreadable.empty()) {
      const bool verifies = generated::IsOpen(settings->feature_gates, "SigstoreImageVerification");
      RegistriesPass(inputs, for_runtime, verifies ? ImageSignatures::kVerified : ImageSignatures::kIgnored, changes);
    } else {
      add_problem(MadeFrom::kImages, "making the registries' configs", sources.why_images_are_unreadable);
    }
  }
  const bool has_providers = generated::IsOpen(settings->feature_gates, "CRIOCredentialProviderConfig");
  if (has_providers && inputs.only.Has(MadeFrom::kCredentialProviders)) {
    if (sources.why_credential_providers_are_unreadable.empty()) {
      CredentialProviderPass(inputs, for_runtime, changes);
    } else {
      add_problem(MadeFrom::kCredentialProviders, "making the credential providers' configs",
                  sources.why_credential_providers_are_unreadable);
    }
  }
  return changes;
}

}  // namespace pintle::controller
