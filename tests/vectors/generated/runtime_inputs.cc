// SPDX-License-Identifier: Apache-2.0
#include "vectors/generated/runtime_inputs.h"

#include <algorithm>
#include <set>
#include <stdexcept>

namespace pintle::vectors {

CaseObjects::CaseObjects(const std::filesystem::path& folder, const std::string& name)
    : documents_(DocumentsOf(folder / name / "in.yaml")) {
  std::set<std::string> own_kinds;
  for (const json::Value& document : documents_) own_kinds.emplace(machineconfig::KindOf(document));
  for (json::Value& document : DocumentsOf(folder / ".." / "kubelet" / "_base.yaml")) {
    if (!own_kinds.contains(std::string(machineconfig::KindOf(document)))) documents_.push_back(std::move(document));
  }
}

std::vector<api::MachineConfigPool> CaseObjects::Pools() const {
  auto pools = All<api::MachineConfigPool>("MachineConfigPool");
  if (!pools) throw std::runtime_error(pools.error().message());
  return *std::move(pools);
}

bool CaseObjects::IsEnabled(std::string_view feature_gate) const {
  for (const json::Value& document : documents_) {
    if (machineconfig::KindOf(document) != "FeatureGate") continue;
    for (const json::Value& release : document["status"]["featureGates"]) {
      const json::Value& enabled = release["enabled"];
      const bool is_enabled = std::any_of(enabled.begin(), enabled.end(), [&](const json::Value& gate) {
        return gate.TextAt({"name"}) == feature_gate;
      });
      if (is_enabled) return true;
    }
  }
  return false;
}

const json::Value* CaseObjects::Find(std::string_view kind) const {
  const auto document = std::find_if(documents_.begin(), documents_.end(), [&](const json::Value& candidate) {
    return machineconfig::KindOf(candidate) == kind;
  });
  return document == documents_.end() ? nullptr : &*document;
}

std::string CaseObjects::ReleaseImage() const {
  const json::Value* config = Find("ControllerConfig");
  return config == nullptr ? "" : config->TextAt({"spec", "releaseImage"});
}

Result<RuntimeTemplatesOfPools> TemplatesOf(const CaseObjects& objects, const RoleTemplates& templates) {
  const json::Value* config = objects.Find("ControllerConfig");
  if (config == nullptr) throw std::runtime_error("a case has no ControllerConfig");
  RuntimeTemplatesOfPools of_pools;
  for (const api::MachineConfigPool& pool : objects.Pools()) {
    const std::string& name = pool.metadata.name;
    const auto configs = templates.For(name, *config, objects.Find("APIServer"));
    if (!configs) return generated::RuntimeTemplatesFailed(configs.error());
    of_pools.emplace(name, TRY(generated::FindRuntimeTemplates(*configs)));
  }
  return of_pools;
}

}  // namespace pintle::vectors
