// SPDX-License-Identifier: Apache-2.0
#include "vectors/generated/runtime_inputs.h"

#include <algorithm>
#include <set>
#include <stdexcept>

namespace pintle::vectors {
namespace {

std::string InlineOf(const std::filesystem::path& path) {
  return DocumentsOf(path).at(0).TextAt({"contents", "inline"});
}

}  // namespace

CaseObjects::CaseObjects(const std::filesystem::path& folder, const std::string& name)
    : documents_(DocumentsOf(folder / name / "in.yaml")) {
  std::set<std::string> own;
  for (const json::Value& document : documents_) own.emplace(machineconfig::KindOf(document));
  for (json::Value& document : DocumentsOf(folder / ".." / "kubelet" / "_base.yaml")) {
    if (!own.contains(std::string(machineconfig::KindOf(document)))) documents_.push_back(std::move(document));
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

std::string CaseObjects::ReleaseImage() const {
  for (const json::Value& document : documents_) {
    if (machineconfig::KindOf(document) == "ControllerConfig") return document.TextAt({"spec", "releaseImage"});
  }
  return "";
}

TemplatesOfRoles::TemplatesOfRoles(const std::filesystem::path& templates) {
  for (const std::string role : {"master", "worker", "arbiter"}) {
    const std::filesystem::path files = templates / role / ("01-" + role + "-container-runtime") / "_base" / "files";
    by_role_[role] = {.storage_conf = InlineOf(templates / "common" / "_base" / "files" / "container-storage.yaml"),
                      .registries_conf = InlineOf(files / "registries.yaml"),
                      .policy_json = InlineOf(files / "policy.yaml")};
  }
}

const generated::RuntimeTemplates& TemplatesOfRoles::For(const api::MachineConfigPool& pool) const {
  const auto role = by_role_.find(pool.metadata.name);
  return role == by_role_.end() ? by_role_.at("worker") : role->second;
}

}  // namespace pintle::vectors
