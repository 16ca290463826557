// SPDX-License-Identifier: Apache-2.0
#include "controller/render_pass.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "api/conditions.h"
#include "api/label_selector.h"
#include "base/version.h"
#include "json/field_list.h"

namespace pintle::controller {
namespace {

// Returns a selector in the notation of Kubernetes: "role in (infra,worker),!old".
std::string SelectorText(const api::LabelSelector& selector) {
  std::multimap<std::string, std::string> parts;
  for (const auto& [key, value] : selector.match_labels) parts.emplace(key, fmt::format("{}={}", key, value));
  for (const api::LabelSelectorRequirement& expression : selector.match_expressions) {
    std::vector<std::string> values = expression.values;
    std::sort(values.begin(), values.end());
    const auto among = [&](const char* word) {
      return fmt::format("{} {} ({})", expression.key, word, fmt::join(values, ","));
    };
    parts.emplace(expression.key, expression.op == "In"             ? among("in")
                                  : expression.op == "NotIn"        ? among("notin")
                                  : expression.op == "DoesNotExist" ? "!" + expression.key
                                                                    : expression.key);
  }
  std::string text;
  for (const auto& [key, part] : parts) text += (text.empty() ? "" : ",") + part;
  return text;
}

Verdict Failed(const api::MachineConfigPool& pool, std::string_view why, std::string reason = "") {
  return {std::move(reason), fmt::format("Failed to render configuration for pool {}: {}", pool.metadata.name, why)};
}

bool IsTrue(const std::vector<api::Condition>& conditions, std::string_view type) {
  const api::Condition* const condition = api::FindCondition(conditions, type);
  return condition != nullptr && condition->status == "True";
}

// Adds the configs that the pool selects; fails if there are none.
Result<> Select(RenderInputs& inputs) {
  const auto& selector = inputs.pool.spec.machine_config_selector;
  const api::Selector compiled = TRY(api::Selector::Compile(selector), "invalid label selector");
  for (const api::MachineConfig* config : inputs.view.configs) {
    if (compiled.Matches(config->metadata.labels)) inputs.configs.push_back(config);
  }
  if (!inputs.configs.empty()) return {};
  return Error(ErrorKind::kInvalid, fmt::format("no MachineConfigs found matching selector {}",
                                                selector ? SelectorText(*selector) : "(the pool has none)"));
}

void Refuse(RenderInputs& inputs, std::string_view why, std::string reason = "") {
  inputs.refusal = Failed(inputs.pool, why, std::move(reason));
}

// Returns why one of the inputs cannot be read, or an empty string.
std::string WhyUnreadable(const RenderInputs& inputs) {
  const View& view = inputs.view;
  const auto pool = view.unreadable_pools.find(inputs.pool.metadata.name);
  if (pool != view.unreadable_pools.end()) return pool->second;
  if (!view.unreadable_settings.empty()) return view.unreadable_settings;
  const auto compiled = api::Selector::Compile(inputs.pool.spec.machine_config_selector);
  for (const PartialObject<api::MachineConfig>& config : view.unreadable_configs) {
    const bool may_be_selected = config.why.find("$.metadata") != std::string::npos ||
                                 (compiled && compiled->Matches(config.object->metadata.labels));
    if (may_be_selected) return config.why;
  }
  return "";
}

// Returns why the OSImageStream cannot be used yet, or an empty string.  The ControllerConfig and the OSImageStream of
// a release are used together, because nodes would be updated twice otherwise.
std::string WhyStreamIsAnother(const View& view) {
  const std::string needed = RecordedStreamVersion(view.controller_config->metadata);
  if (view.os_image_stream == nullptr || needed.empty()) return "";
  const std::string& version = view.os_image_stream->metadata.Annotation(api::kReleaseImageVersionAnnotation);
  if (version == needed) return "";
  return fmt::format("ignoring OSImageStream with version {} (my version: {})", version, needed);
}

void Gather(RenderInputs& inputs, TemplatesMaker maker) {
  if (const std::string why = WhyUnreadable(inputs); !why.empty()) return Refuse(inputs, why, "Unreadable");
  const auto& selector = inputs.pool.spec.machine_config_selector;
  if (selector && selector->is_empty()) {
    return Refuse(inputs, kSelectingAllMessage, kSelectingAll);
  }
  const api::ControllerConfig* const config = inputs.view.controller_config;
  if (config == nullptr) {
    return Refuse(inputs,
                  fmt::format("there is no ControllerConfig {}, which has the cluster's settings for every config; "
                              "create it",
                              api::kControllerConfigName),
                  "NoControllerConfig");
  }
  if (const std::string why = WhyTemplatesAreBehind(*config, maker); !why.empty()) {
    inputs.is_temporary = !IsTrue(config->status.conditions, "TemplateControllerFailing");
    return Refuse(inputs, why, "ControllerConfigNotReady");
  }
  if (const std::string why = WhyStreamIsAnother(inputs.view); !why.empty()) {
    inputs.is_temporary = true;
    return Refuse(inputs, why, "OSImageStreamNotReady");
  }
  if (const auto selected = Select(inputs); !selected) Refuse(inputs, selected.error().message());
}

// Returns the value of RenderInputs::key.
std::string RenderKey(const RenderInputs& inputs) {
  const View& view = inputs.view;
  const api::MachineConfigPool& pool = inputs.pool;
  std::string key =
      fmt::format("{} {}", pool.metadata.uid, pool.spec.os_image_stream ? pool.spec.os_image_stream->name : "");
  const auto add = [&](const api::ObjectMeta& metadata, std::string_view version) {
    key += fmt::format("\n{} {} {}", metadata.name, metadata.uid, version);
  };
  for (const api::MachineConfig* config : inputs.configs) add(config->metadata, config->metadata.resource_version);
  if (view.controller_config != nullptr) {
    const api::ObjectMeta& metadata = view.controller_config->metadata;
    add(metadata, std::to_string(metadata.generation));
    key += metadata.Annotation(api::kGeneratedByVersionAnnotation) + " " +
           metadata.Annotation(api::kReleaseImageVersionAnnotation);
  }
  // Custom pools follow the stream of the worker pool, so this stream is an input of each pool.
  if (const api::MachineConfigPool* worker = view.PoolNamed(api::kWorkerPool)) {
    key += worker->spec.os_image_stream ? "\n" + worker->spec.os_image_stream->name : "";
  }
  if (view.os_image_stream != nullptr) {
    add(view.os_image_stream->metadata, view.os_image_stream->metadata.resource_version);
  }
  if (view.machine_configuration != nullptr) {
    const auto& overrides = view.machine_configuration->spec.irreconcilable_validation_overrides.storage;
    key += fmt::format("\n{}", fmt::join(overrides, " "));
  }
  if (inputs.refusal) key += "\n" + inputs.refusal->message;
  return key;
}

Result<const api::OSImageStreamSet*> ImagesFor(const RenderInputs& inputs) {
  const api::OSImageStream* const stream = inputs.view.os_image_stream;
  if (stream == nullptr) return nullptr;
  return machineconfig::ImagesFor(inputs.pool, inputs.view.PoolNamed(api::kWorkerPool), *stream);
}

Result<machineconfig::Rendered> Render(const RenderInputs& inputs, const api::MachineConfig* current) {
  const api::OSImageStreamSet* const os_images = TRY(ImagesFor(inputs));
  machineconfig::RenderSettings settings{
      .controller_config = *inputs.view.controller_config,
      .controller_version = SigningVersion(inputs.configs, inputs.versions),
      .operator_version = inputs.versions.operator_version,
      .os_images = os_images,
  };
  if (settings.os_images != nullptr) settings.os_image_stream = settings.os_images->name;
  settings.current = current;
  if (inputs.view.machine_configuration != nullptr) {
    settings.overrides = inputs.view.machine_configuration->spec.irreconcilable_validation_overrides;
  }
  return machineconfig::Render(inputs.pool, inputs.configs, settings);
}

}  // namespace

std::string GeneratorVersion(const std::vector<const api::MachineConfig*>& configs) {
  for (const api::MachineConfig* config : configs) {
    const std::string& version = config->metadata.Annotation(api::kGeneratedByControllerVersionAnnotation);
    if (!version.empty()) return version;
  }
  return "";
}

std::string RecordedStreamVersion(const api::ObjectMeta& controller_config) {
  const std::string& record = controller_config.Annotation(api::kOsImageStreamAnnotation);
  const std::string beginning = controller_config.Annotation(api::kReleaseImageVersionAnnotation) + " ";
  return record.starts_with(beginning) ? record.substr(beginning.size()) : "";
}

std::string SigningVersion(const std::vector<const api::MachineConfig*>& configs, const Versions& versions) {
  if (!versions.controller.empty()) return versions.controller;
  std::string version = GeneratorVersion(configs);
  return version.empty() ? std::string(kVersion) : version;
}

std::string WhyTemplatesAreBehind(const api::ControllerConfig& config, TemplatesMaker maker) {
  const auto& conditions = config.status.conditions;
  const api::Condition* const failing = api::FindCondition(conditions, "TemplateControllerFailing");
  const bool is_completed = IsTrue(conditions, "TemplateControllerCompleted");
  const bool is_running = IsTrue(conditions, "TemplateControllerRunning");
  const bool is_failing = failing != nullptr && failing->status == "True";
  if (conditions.empty() && maker == TemplatesMaker::kUnknown) return "";
  if (config.status.observed_generation != config.metadata.generation) {
    return fmt::format("status for ControllerConfig {} is being reported for {}, expecting it for {}",
                       config.metadata.name, config.status.observed_generation, config.metadata.generation);
  }
  if (is_completed && !is_running && !is_failing) return "";
  return fmt::format("ControllerConfig has not completed: completed({}) running({}) failing({}){}", is_completed,
                     is_running, is_failing, is_failing ? ": " + failing->message : "");
}

RenderInputs GatherRenderInputs(const api::MachineConfigPool& pool, const View& view, const Versions& versions,
                                TemplatesMaker maker) {
  RenderInputs inputs = {.pool = pool,
                         .view = view,
                         .versions = versions,
                         .configs = {},
                         .refusal = std::nullopt,
                         .is_temporary = false,
                         .key = {}};
  Gather(inputs, maker);
  inputs.key = RenderKey(inputs);
  return inputs;
}

RenderOutcome RenderPass(const RenderInputs& inputs, const api::MachineConfig* current) {
  if (inputs.refusal) return {.verdict = *inputs.refusal, .rendered = std::nullopt};
  auto rendered = Render(inputs, current);
  if (!rendered) {
    const std::string why = "could not generate rendered MachineConfig: " + rendered.error().message();
    return {.verdict = Failed(inputs.pool, why), .rendered = std::nullopt};
  }
  if (const auto size = machineconfig::CheckFitsCluster(rendered->config); !size) {
    return {.verdict = Failed(inputs.pool, "size validation failed: " + size.error().message()),
            .rendered = std::nullopt};
  }
  if (auto warning = machineconfig::SizeWarning(rendered->config)) rendered->warnings.push_back(*std::move(warning));
  return {.verdict = {}, .rendered = *std::move(rendered)};
}

bool HasSameSpec(const api::MachineConfig& a, const api::MachineConfig& b) { return json::Equal(a.spec, b.spec); }

}  // namespace pintle::controller
