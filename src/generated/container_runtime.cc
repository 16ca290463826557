// SPDX-License-Identifier: Apache-2.0
#include "generated/container_runtime.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <utility>

#include "generated/invalid.h"
#include "generated/managed_names.h"
#include "generated/pool_selection.h"
#include "generated/storage_conf.h"
#include "gotext/quote.h"
#include "toml/writer.h"

namespace pintle::generated {
namespace {

using api::ContainerRuntimeConfiguration;
using Stores = std::vector<api::AdditionalStore>;

constexpr auto kLogLevels =
    std::to_array<std::string_view>({"error", "fatal", "panic", "warn", "info", "debug", "trace"});

// Returns whether a path is absolute, is not the root, and consists of letters, digits and / . _ - only.
bool IsPlainPath(std::string_view path) {
  constexpr std::string_view kAllowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-";
  return path.size() > 1 && path[0] == '/' && path.find_first_not_of(kAllowed) == std::string_view::npos;
}

std::string ProblemOfPath(std::string_view field, std::string_view path) {
  if (path.empty()) return fmt::format("invalid {}: path must not be empty", field);
  const std::string begin = fmt::format("invalid {} path {}: must", field, gotext::Quoted(path));
  if (!IsPlainPath(path)) {
    return begin + " be an absolute path containing only alphanumeric characters, '/', '.', '_', and '-'";
  }
  return path.find("//") == std::string_view::npos ? "" : begin + " not contain consecutive forward slashes";
}

Result<> CheckStores(const ContainerRuntimeConfiguration& config) {
  struct Field {
    std::string_view name;
    const Stores& stores;
  };
  std::vector<std::string> problems;
  for (const Field& field : {Field{"AdditionalLayerStores", config.additional_layer_stores},
                             Field{"AdditionalImageStores", config.additional_image_stores},
                             Field{"AdditionalArtifactStores", config.additional_artifact_stores}}) {
    for (const api::AdditionalStore& store : field.stores) {
      std::string problem = ProblemOfPath(field.name, store.path);
      if (!problem.empty()) problems.push_back(std::move(problem));
    }
  }
  if (problems.empty()) return {};
  return Invalid(fmt::format("{}", fmt::join(problems, "\n")));
}

Result<> CheckSizes(const ContainerRuntimeConfiguration& config) {
  // The operator's limits.
  constexpr std::int64_t kLeastProcesses = 20;
  constexpr std::int64_t kTooSmallLog = 8192;  // In bytes.
  if (config.pids_limit && *config.pids_limit != 0 && *config.pids_limit < kLeastProcesses) {
    return Invalid(fmt::format("invalid PidsLimit {}", *config.pids_limit));
  }
  if (config.log_size_max && config.log_size_max->value() > 0 && config.log_size_max->value() <= kTooSmallLog) {
    return Invalid(
        fmt::format("invalid LogSizeMax {}, cannot be less than 8kB", gotext::Quoted(config.log_size_max->text())));
  }
  if (config.overlay_size && config.overlay_size->value() < 0) {
    return Invalid(
        fmt::format("invalid overlaySize {}, cannot be less than 0", gotext::Quoted(config.overlay_size->text())));
  }
  return {};
}

std::vector<std::string> PathsOf(const Stores& stores) {
  std::vector<std::string> paths;
  for (const api::AdditionalStore& store : stores) paths.push_back(store.path);
  return paths;
}

// Makes a file with one setting of CRI-O.
template <typename Value>
NewFile DropIn(std::string_view name, std::string_view key, Value value) {
  toml::Table runtime;
  runtime.Add(key, std::move(value));
  return {fmt::format("/etc/crio/crio.conf.d/01-ctrcfg-{}", name),
          toml::Write(toml::Table().Add("crio", toml::Table().Add("runtime", std::move(runtime))))};
}

MachineConfig OwnedConfig(std::string name, const api::MachineConfigPool& pool, const std::vector<NewFile>& files,
                          api::OwnerReference owner, std::string_view controller_version) {
  MachineConfig config = NewConfig(std::move(name), pool.metadata.name, files);
  config.annotations = MadeBy(controller_version);
  config.owner_references = {std::move(owner)};
  return config;
}

}  // namespace

Result<> CheckContainerRuntimeConfig(const api::ContainerRuntimeConfig& config) {
  if (!config.spec.container_runtime_config) {
    return Invalid(
        fmt::format("the ContainerRuntimeConfig {} has no spec.containerRuntimeConfig; add one, which may "
                    "be empty",
                    config.metadata.name));
  }
  const ContainerRuntimeConfiguration& wanted = *config.spec.container_runtime_config;
  TRY(CheckSizes(wanted));
  const std::string& level = wanted.log_level;
  if (!level.empty() && std::find(kLogLevels.begin(), kLogLevels.end(), level) == kLogLevels.end()) {
    return Invalid(fmt::format("invalid LogLevel {}, must be one of error, fatal, panic, warn, info, debug, or trace",
                               gotext::Quoted(level)));
  }
  const std::string& runtime = wanted.default_runtime;
  if (!runtime.empty() && runtime != "crun" && runtime != "runc") {
    return Invalid(fmt::format("invalid DefaultRuntime {}, must be one of crun, runc", gotext::Quoted(runtime)));
  }
  return CheckStores(wanted);
}

RuntimeFiles FilesOf(const ContainerRuntimeConfiguration& config, std::string_view storage_template,
                     AdditionalStores stores) {
  RuntimeFiles made;
  StorageChanges changes;
  if (config.overlay_size && config.overlay_size->value() != 0) changes.size = config.overlay_size->text();
  std::vector<std::string> artifact_stores;
  if (stores == AdditionalStores::kUsed) {
    changes.additional_layer_stores = PathsOf(config.additional_layer_stores);
    changes.additional_image_stores = PathsOf(config.additional_image_stores);
    artifact_stores = PathsOf(config.additional_artifact_stores);
  }
  // The value() of a size that does not fit into 64 bits can be 0.  As in the operator, the file is made in this case
  // too, with the template's size.
  const bool has_size = config.overlay_size && !config.overlay_size->is_zero();
  if (has_size || !changes.additional_layer_stores.empty() || !changes.additional_image_stores.empty()) {
    if (auto text = StorageConf(storage_template, changes)) {
      made.files.push_back({"/etc/containers/storage.conf", *std::move(text)});
    } else {
      made.storage_problem = text.error().message();
    }
  }
  if (!config.log_level.empty()) {
    made.files.push_back(DropIn("logLevel", "log_level", std::string_view(config.log_level)));
  }
  if (config.pids_limit) made.files.push_back(DropIn("pidsLimit", "pids_limit", *config.pids_limit));
  if (config.log_size_max && config.log_size_max->value() != 0) {
    made.files.push_back(DropIn("logSizeMax", "log_size_max", config.log_size_max->value()));
  }
  if (!config.default_runtime.empty()) {
    made.files.push_back(DropIn("defaultRuntime", "default_runtime", std::string_view(config.default_runtime)));
  }
  if (!artifact_stores.empty()) {
    made.files.push_back(DropIn("additionalArtifactStores", "additional_artifact_stores", std::move(artifact_stores)));
  }
  return made;
}

MachineConfig RuntimeConfig(std::string name, const api::MachineConfigPool& pool, const std::vector<NewFile>& files,
                            const api::ContainerRuntimeConfig& owner, std::string_view controller_version) {
  return OwnedConfig(std::move(name), pool, files, ControlledBy(api::ContainerRuntimeConfig::kKind, owner.metadata),
                     controller_version);
}

Result<RuntimeConfigs> RuntimeConfigsAtBootstrap(std::span<const api::ContainerRuntimeConfig> configs,
                                                 std::span<const PoolWithTemplates> pools, AdditionalStores stores,
                                                 std::string_view controller_version) {
  for (const auto& config : configs) TRY(CheckContainerRuntimeConfig(config));
  RuntimeConfigs made;
  std::set<std::string_view> selected_pools;
  for (const auto& config : configs) {
    for (const auto& [pool, templates] : pools) {
      if (!TRY(IsSelected(*pool, config.spec.machine_config_pool_selector))) continue;
      const std::string& role = pool->metadata.name;
      const RuntimeFiles files = FilesOf(*config.spec.container_runtime_config, templates->storage_conf, stores);
      if (!selected_pools.insert(role).second) {
        return Invalid(
            fmt::format("could not marshal container runtime ignition: error found multiple ContainerConfig "
                        "targeting MachineConfigPool {}. Please apply only one ContainerConfig manifest for "
                        "each pool during installation",
                        role));
      }
      // If storage.conf cannot be made, the operator still makes the other files, so the first machines must have them.
      if (!files.storage_problem.empty()) {
        made.complaints.push_back(fmt::format(
            "ContainerRuntimeConfig {}: its overlaySize and its additional stores have no effect in the pool "
            "{}, because /etc/containers/storage.conf cannot be made from the template; correct the "
            "template: {}",
            config.metadata.name, role, files.storage_problem));
      }
      made.configs.push_back(OwnedConfig(
          PlainName(ManagedKind::kContainerRuntime, role), *pool, files.files,
          OwnedAtBootstrap(api::kMachineConfigApiVersion, api::ContainerRuntimeConfig::kKind), controller_version));
    }
  }
  return made;
}

}  // namespace pintle::generated
