// SPDX-License-Identifier: Apache-2.0
#include "controller/template_pass.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/version.h"
#include "controller/config_outcome.h"
#include "controller/controller_certificates.h"
#include "controller/replacing_patch.h"
#include "generated/pull_secret.h"
#include "generated/template_status.h"
#include "generated/templates.h"
#include "generated/tls_settings.h"
#include "json/fields.h"

namespace pintle::controller {
namespace {

// Returns the contents of the pull secret, or "" if the ControllerConfig names none.
Result<std::string> ReadPullSecret(const SourcesView& sources) {
  const std::string& name = sources.whole_controller_config->spec.TextAt({"pullSecret", "name"});
  if (name.empty()) return std::string();
  if (!sources.why_pull_secret_is_unreadable.empty())
    return Error(ErrorKind::kInvalid, sources.why_pull_secret_is_unreadable);
  const PullSecret* const secret = sources.pull_secret;
  if (secret == nullptr) return Error(ErrorKind::kInvalid, fmt::format("secrets \"{}\" not found", name));
  return generated::PullSecretIn(*secret);
}

// Returns the pull secret, and adds the credentials for the release registry if the cluster has one.
Result<std::string> AddReleaseRegistry(const SourcesView& sources, std::string pull_secret) {
  if (!sources.has_own_registry) return pull_secret;
  if (!sources.why_registry_secret_is_unreadable.empty()) {
    return Error(ErrorKind::kInvalid, sources.why_registry_secret_is_unreadable);
  }
  return generated::WithReleaseRegistry(std::move(pull_secret), sources.registry_secret,
                                        sources.whole_controller_config->spec.TextAt({"dns", "spec", "baseDomain"}));
}

Result<std::vector<generated::MachineConfig>> MakeTemplateConfigs(const GenerateInputs& inputs) {
  std::string secret = TRY(AddReleaseRegistry(inputs.sources, TRY(ReadPullSecret(inputs.sources))));
  secret = TRY(generated::CompactPullSecret(secret));
  const api::ApiServer* const server = inputs.sources.api_server;
  const generated::TlsSettings tls =
      generated::TlsSettingsOf(server == nullptr ? std::nullopt : server->spec.tls_security_profile);
  const WholeControllerConfig& input = *inputs.sources.whole_controller_config;
  const generated::RenderConfig config(input.spec, std::move(secret), tls);
  auto configs = TRY(generated::MachineConfigsOfTemplates(inputs.templates, config, inputs.version));
  for (generated::MachineConfig& made : configs) {
    made.owner_references = {generated::ControlledBy(api::ControllerConfig::kKind, input.metadata)};
  }
  return configs;
}

// Removes the images from generated configs: an image would keep the pools from following the release.
void ClearImages(const GenerateInputs& inputs, GenerateChanges& changes) {
  for (const api::MachineConfig* config : inputs.view.configs) {
    const bool is_generated = !config->metadata.Annotation(api::kGeneratedByControllerVersionAnnotation).empty();
    const bool has_image =
        !config->spec.os_image_url.empty() || !config->spec.base_os_extensions_container_image.empty();
    if (!is_generated || !has_image || config->metadata.name.starts_with("rendered-")) continue;
    const auto is_same = [&](const ConfigChange& change) { return change.name == config->metadata.name; };
    if (std::any_of(changes.configs.begin(), changes.configs.end(), is_same)) continue;
    ReplacingPatch patch(config->metadata);
    patch.Set("/spec/osImageURL", "");
    patch.Set("/spec/baseOSExtensionsContainerImage", "");
    changes.configs.push_back({.name = config->metadata.name,
                               .made_from = MadeFrom::kTemplates,
                               .object = config->metadata.name,
                               .creation_or_patch = std::move(patch).operations()});
  }
}

class TemplateGenerator {
 public:
  TemplateGenerator(const GenerateInputs& inputs, GenerateChanges& changes)
      : inputs_(inputs), changes_(changes), input_(*inputs.sources.whole_controller_config) {
    json::Report report;
    if (input_.status.is_object()) status_ = json::Decode<api::ControllerConfigStatus>(input_.status, report);
    version_ = input_.metadata.Annotation(api::kGeneratedByVersionAnnotation);
    if (version_.empty()) version_ = kVersion;
  }

  void Run() {
    const generated::TemplateSync sync{
        .generation = input_.metadata.generation, .version = version_, .now = inputs_.now};
    if (status_.observed_generation != sync.generation) return PatchStatus(generated::StatusWhenRunning(status_, sync));
    const auto configs = MakeTemplateConfigs(inputs_);
    if (!configs) return PatchStatus(generated::StatusWhenFailing(status_, sync, configs.error()));
    std::optional<Error> refusal;
    bool are_written = true;
    for (std::size_t i = 0; i < configs->size(); ++i) {
      const generated::MachineConfig& config = (*configs)[i];
      inputs_.ReportMade(MadeFrom::kTemplates, config);
      // The folder of another role may make configs with the same names as the workers' folder.  Only the last config
      // of a name is written; otherwise each look would write both, one over the other.
      const bool is_replaced = i + 1 < configs->size() && (*configs)[i + 1].name == config.name;
      if (is_replaced) continue;
      ConfigOutcome outcome = WriteUnlessAwaited(config, OwnedParts::kAll, MadeFrom::kTemplates, inputs_, changes_);
      are_written = are_written && outcome.is_in_place;
      if (!refusal) refusal = std::move(outcome.refusal);
    }
    if (refusal) return PatchStatus(generated::StatusWhenFailing(status_, sync, *refusal));
    if (are_written) PatchStatus(generated::StatusWhenCompleted(status_, sync));
  }

 private:
  void PatchStatus(const api::ControllerConfigStatus& after) {
    json::Value status = json::Value::object();
    const bool is_same =
        after.observed_generation == status_.observed_generation && json::Equal(after.conditions, status_.conditions);
    if (!is_same) {
      status["observedGeneration"] = after.observed_generation;
      status["conditions"] = json::Encode(after.conditions);
    }
    json::Value certificates = ControllerCertificates(input_.spec);
    const json::Value* const known = input_.status.Find("controllerCertificates");
    const bool are_known = known != nullptr && *known == certificates;
    if (!certificates.empty() && !are_known) status["controllerCertificates"] = std::move(certificates);
    if (status.empty()) return;
    changes_.sources.push_back({.kind = SourceKind::kControllerConfig,
                                .name = {"", input_.metadata.name},
                                .part = kube::Part::kStatus,
                                .patch = {{"metadata", {{"resourceVersion", input_.metadata.resource_version}}},
                                          {"status", std::move(status)}}});
  }

  const GenerateInputs& inputs_;
  GenerateChanges& changes_;
  const WholeControllerConfig& input_;
  api::ControllerConfigStatus status_;
  std::string version_;
};

}  // namespace

void TemplatePass(const GenerateInputs& inputs, GenerateChanges& changes) {
  if (inputs.sources.whole_controller_config->metadata.deletion_timestamp) return;
  TemplateGenerator(inputs, changes).Run();
  ClearImages(inputs, changes);
}

}  // namespace pintle::controller
