// SPDX-License-Identifier: Apache-2.0
#include "serving/served_folder.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "json/fields.h"
#include "machineconfig/input.h"
#include "machineconfig/objects.h"

namespace pintle::serving {
namespace {

template <typename T, typename Read>
Result<std::vector<T>> ReadAll(const std::string& path, const Read& read) {
  std::vector<T> objects;
  TRY(machineconfig::ForEachObject(TRY(machineconfig::ReadDocuments(path)), [&](json::Value document) -> Result<> {
    objects.push_back(TRY(read(std::move(document)), path));
    return {};
  }));
  return objects;
}

Result<ServedSources> SourcesFor(const api::MachineConfigPool& pool, const std::vector<api::MachineConfig>& configs,
                                 const ServedSources& common) {
  const std::string& name = ServedConfigName(pool);
  const auto config =
      std::find_if(configs.begin(), configs.end(), [&](const auto& known) { return known.metadata.name == name; });
  if (config == configs.end()) {
    return Error(ErrorKind::kNotFound, fmt::format("could not fetch config {}, err: it is not in mc.yaml", name));
  }
  ServedSources sources = common;
  sources.config = *config;
  return sources;
}

}  // namespace

Result<ServedPools> ReadServedFolder(const std::string& directory, const std::shared_ptr<event::TextCache>& cache) {
  const auto path = [&](const char* name) { return directory + "/" + name; };
  const auto pools = TRY(ReadAll<api::MachineConfigPool>(path("pool.yaml"), [](json::Value document) {
    return machineconfig::ReadObject<api::MachineConfigPool>(std::move(document), "MachineConfigPool");
  }));
  const auto configs = TRY(ReadAll<api::MachineConfig>(path("mc.yaml"), machineconfig::ReadMachineConfig));
  const auto controller_configs =
      TRY(ReadAll<api::ControllerConfig>(path("controllerconfig.yaml"), [](json::Value document) {
        return machineconfig::ReadObject<api::ControllerConfig>(std::move(document), api::ControllerConfig::kKind);
      }));
  if (controller_configs.size() != 1) {
    return Error(ErrorKind::kInvalid,
                 path("controllerconfig.yaml") + ": the file must have exactly one ControllerConfig");
  }
  ServedSources common;
  TRY(AddAuthorities(controller_configs.front(), common), path("controllerconfig.yaml"));
  common.kubeconfig = TRY(machineconfig::ReadInput(path("kubeconfig")));
  ServedPools served;
  for (const api::MachineConfigPool& pool : pools) {
    served[pool.metadata.name] = std::make_shared<const KnownPool>(SourcesFor(pool, configs, common), cache);
  }
  return served;
}

}  // namespace pintle::serving
