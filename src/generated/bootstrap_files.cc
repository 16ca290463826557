// SPDX-License-Identifier: Apache-2.0
#include "generated/bootstrap_files.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "api/controller_config.h"
#include "json/field_list.h"
#include "json/fields.h"
#include "machineconfig/go_yaml.h"
#include "machineconfig/objects.h"
#include "machineconfig/render.h"
#include "machineconfig/validate.h"

namespace pintle::generated {
namespace {

// Adds the members of `defaults` that `to` lacks, in nested objects as well.
void AddMissing(const json::Value& defaults, json::Value& to) {
  for (const auto& [key, value] : defaults.members()) {
    json::Value* const known = to.Find(key);
    if (known == nullptr) {
      to[key] = value;
    } else if (known->is_object() && value.is_object()) {
      AddMissing(value, *known);
    }
  }
}

// Each of the next three functions adds the fields that the operator writes even if they are empty.

void CompletePool(json::Value& pool) {
  static const json::Value kDefaults = {
      {"spec", {{"paused", false}}},
      {"status",
       {{"certExpirys", nullptr},
        {"conditions", nullptr},
        {"degradedMachineCount", 0},
        {"machineCount", 0},
        {"readyMachineCount", 0},
        {"unavailableMachineCount", 0},
        {"updatedMachineCount", 0}}},
  };
  AddMissing(kDefaults, pool);
}

void CompleteControllerConfig(json::Value& config) {
  static const json::Value kDefaults = {
      {"spec",
       {{"additionalTrustBundle", nullptr},
        {"cloudProviderCAData", nullptr},
        {"dns", nullptr},
        {"imageRegistryBundleData", nullptr},
        {"imageRegistryBundleUserData", nullptr},
        {"infra", nullptr},
        {"internalRegistryPullSecret", nullptr},
        {"network", nullptr},
        {"proxy", nullptr}}},
      {"status", {{"conditions", nullptr}, {"controllerCertificates", nullptr}}},
  };
  static const json::Value kDnsDefaults = {
      {"spec", {{"platform", {{"aws", nullptr}, {"type", ""}}}}},
      {"status", json::Value::object()},
  };
  AddMissing(kDefaults, config);
  json::Value& dns = config["spec"]["dns"];
  if (dns.is_object()) AddMissing(kDnsDefaults, dns);
}

void CompleteApiServer(json::Value& server) {
  static const json::Value kDefaults = {
      {"spec",
       {{"audit", json::Value::object()},
        {"clientCA", {{"name", ""}}},
        {"encryption", json::Value::object()},
        {"servingCerts", json::Value::object()}}},
      {"status", json::Value::object()},
  };
  AddMissing(kDefaults, server);
}

Result<BootstrapFile> ToFile(std::string path, const json::Value& document) {
  BootstrapFile file = {.path = std::move(path), .text = {}};
  TRY(machineconfig::WriteGoYamlDocument(document, [&](std::string_view piece) { file.text += piece; }), file.path);
  return file;
}

// As in the operator, each pool lists all configs as its sources.  The controller corrects the list when it renders the
// pool again.
json::Value SourcesOf(const std::vector<api::MachineConfig>& configs) {
  json::Value sources = json::Value::array();
  for (const api::MachineConfig& config : configs) {
    sources.push_back({{"apiVersion", api::kMachineConfigApiVersion},
                       {"kind", api::MachineConfig::kKind},
                       {"name", config.metadata.name}});
  }
  return sources;
}

// In a cluster, each config has a name that no other config has.  If manifests have configs with the same name or
// without a name, the cluster renders other configs than the installation did, and the nodes of the installation become
// Degraded.
void WarnOfNames(const Manifests& manifests, const std::vector<MachineConfig>& generated,
                 std::vector<std::string>& warnings) {
  std::set<std::string_view> of_generated;
  for (const MachineConfig& config : generated) of_generated.insert(config.name);
  std::map<std::string_view, int> counts;
  for (const api::MachineConfig& config : manifests.machine_configs) ++counts[config.metadata.name];
  for (const auto& [name, count] : counts) {
    const std::string place = manifests.PlaceOf(api::MachineConfig::kKind, name);
    const auto warn = [&, name = name](std::string_view problem) {
      warnings.push_back(
          fmt::format("{}: MachineConfig {}: {}, because otherwise the cluster renders other configs than this "
                      "installation, and the nodes become Degraded",
                      place, name, problem));
    };
    if (name.empty()) {
      warn("it has no name; set metadata.name");
    } else if (count > 1) {
      warn(fmt::format("{} manifests have this name; keep only one of them", count));
    } else if (of_generated.contains(name)) {
      warn("a generated config has this name; choose another name");
    }
  }
}

class BootstrapRenderer {
 public:
  BootstrapRenderer(const Manifests& manifests, const api::ControllerConfig& controller_config,
                    const BootstrapVersions& versions, std::vector<api::MachineConfig> configs)
      : manifests_(manifests),
        controller_config_(controller_config),
        versions_(versions),
        configs_(std::move(configs)),
        sources_(SourcesOf(configs_)) {}

  // Adds two files: the config of a pool to `to`, and the pool itself to `pools`.
  Result<> AddPoolFiles(const PoolManifest& manifest, BootstrapFiles& to, std::vector<BootstrapFile>& pools) const {
    const std::string& pool = manifest.pool.metadata.name;
    machineconfig::Rendered rendered = TRY(Render(manifest.pool), fmt::format("rendering pool {}", pool));
    for (std::string& warning : rendered.warnings) to.warnings.push_back(std::move(warning));
    // A config that is too large can be rendered and served, but the API server will not store it.
    if (const auto size = machineconfig::CheckFitsCluster(rendered.config); !size) {
      to.warnings.push_back(size.error().message());
    } else if (auto warning = machineconfig::SizeWarning(rendered.config)) {
      to.warnings.push_back(*std::move(warning));
    }
    const std::string name = rendered.config.metadata.name;
    rendered.config.api_version = api::kMachineConfigApiVersion;
    rendered.config.kind = api::MachineConfig::kKind;
    to.files.push_back(TRY(
        ToFile(fmt::format("machine-configs/{}.yaml", name), machineconfig::ToDocument(std::move(rendered.config)))));
    json::Value document = manifest.document;
    for (const char* part : {"spec", "status"}) {
      json::Value& configuration = document[part]["configuration"];
      configuration = json::Value::object();
      configuration["name"] = name;
      configuration["source"] = sources_;
    }
    CompletePool(document);
    pools.push_back(TRY(ToFile(fmt::format("{}/{}.yaml", kPoolsFolder, pool), document)));
    to.rendered.push_back({.pool = pool, .config = name});
    return {};
  }

 private:
  Result<machineconfig::Rendered> Render(const api::MachineConfigPool& pool) const {
    const machineconfig::MachineConfigs selected = TRY(machineconfig::SelectFor(pool, configs_));
    const api::OSImageStreamSet* const os_images = TRY(OsImagesOf(pool));
    machineconfig::RenderSettings settings{.controller_config = controller_config_,
                                           .controller_version = versions_.controller,
                                           .operator_version = versions_.operator_version,
                                           .os_images = os_images};
    if (settings.os_images != nullptr) settings.os_image_stream = settings.os_images->name;
    auto rendered = machineconfig::Render(pool, selected, settings);
    if (rendered) return rendered;
    return WithPlace(std::move(rendered).error(), selected);
  }

  Result<const api::OSImageStreamSet*> OsImagesOf(const api::MachineConfigPool& pool) const {
    const auto& stream = manifests_.os_image_stream;
    if (!stream || stream->status.available_streams.empty()) return nullptr;
    const auto worker = std::find_if(manifests_.pools.begin(), manifests_.pools.end(), [](const PoolManifest& known) {
      return known.pool.metadata.name == api::kWorkerPool;
    });
    return machineconfig::ImagesFor(pool, worker == manifests_.pools.end() ? nullptr : &worker->pool, *stream);
  }

  // If a selected config is invalid, adds the manifest of the first invalid one to the error.
  Error WithPlace(Error error, const machineconfig::MachineConfigs& selected) const {
    for (const api::MachineConfig* config : selected) {
      json::Report report;
      const std::string place = manifests_.PlaceOf(api::MachineConfig::kKind, config->metadata.name);
      if (!place.empty() && !machineconfig::Validate(*config, report)) return std::move(error).While(place);
    }
    return error;
  }

  const Manifests& manifests_;
  const api::ControllerConfig& controller_config_;
  const BootstrapVersions& versions_;
  const std::vector<api::MachineConfig> configs_;
  const json::Value sources_;
};

}  // namespace

Result<BootstrapFiles> FilesForBootstrap(const Manifests& manifests, const std::vector<MachineConfig>& configs,
                                         const BootstrapVersions& versions) {
  const auto controller_config =
      TRY(machineconfig::ReadObject<api::ControllerConfig>(*manifests.controller_config, api::ControllerConfig::kKind),
          manifests.PlaceOf(api::ControllerConfig::kKind, manifests.controller_config->TextAt({"metadata", "name"})));
  std::vector<api::MachineConfig> all_configs = manifests.machine_configs;
  for (const MachineConfig& config : configs) all_configs.push_back(ToObject(config));

  BootstrapFiles made;
  WarnOfNames(manifests, configs, made.warnings);
  json::Value document = *manifests.controller_config;
  CompleteControllerConfig(document);
  made.files.push_back(TRY(ToFile("controller-config/machine-config-controller.yaml", document)));
  if (manifests.api_server) {
    document = *manifests.api_server;
    CompleteApiServer(document);
    made.files.push_back(TRY(ToFile(fmt::format("{}/api-server.yaml", kApiServerFolder), document)));
  }
  const BootstrapRenderer renderer(manifests, controller_config, versions, std::move(all_configs));
  std::vector<BootstrapFile> pools;
  for (const PoolManifest& manifest : manifests.pools) TRY(renderer.AddPoolFiles(manifest, made, pools));
  std::move(pools.begin(), pools.end(), std::back_inserter(made.files));
  return made;
}

}  // namespace pintle::generated
