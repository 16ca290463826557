// SPDX-License-Identifier: Apache-2.0
#pragma once

// A cluster in memory, in which the passes that generate MachineConfigs decide until nothing is left to write.
//
// The trial cluster computes what the controllers would make from some objects.  The objects are given, or copied from
// a real cluster.

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "controller/generate_changes.h"
#include "controller/generate_inputs.h"
#include "controller/generated_kinds.h"
#include "controller/render_pass.h"
#include "controller/sources_view.h"
#include "controller/view.h"
#include "generated/machine_config.h"
#include "generated/template_folder.h"
#include "json/field_list.h"
#include "kube/resource_kind.h"

namespace pintle::controller {

// A kind of objects that configs are generated or rendered from.
struct TrialKind {
  kube::ResourceKind resource;
  // Returns an error with all problems if an object of the kind cannot be read.
  Result<> (*check)(const json::Value& object);
};

std::span<const TrialKind> TrialKinds();

// Returns the kind of an object, or nullptr if the controllers do not read such objects.  An object without an
// apiVersion is recognized by its kind alone.
const TrialKind* FindTrialKind(const json::Value& object);

// Returns NAMESPACE/NAME for an object of a kind with namespaces, and the name alone for any other object.
std::string FullNameOf(const json::Value& object);

// Returns whether the controllers that generate configs report in the status of such an object.
bool IsReportedOn(const json::Value& object);

// The objects of a trial cluster as the passes see them.
struct TrialObjects {
  TrialObjects() = default;
  TrialObjects(TrialObjects&&) = default;

  std::vector<api::MachineConfigPool> pools;
  std::vector<api::MachineConfig> configs;
  std::vector<api::ControllerConfig> controller_configs;
  std::vector<api::MachineConfiguration> machine_configurations;
  std::vector<api::OSImageStream> os_image_streams;
  std::vector<WholeControllerConfig> whole_controller_configs;
  std::vector<PullSecret> pull_secrets;
  std::vector<api::KubeletConfig> kubelet_configs;
  std::vector<api::ContainerRuntimeConfig> runtime_configs;
  std::vector<api::FeatureGate> feature_gates;
  std::vector<api::NodeSettings> node_settings;
  std::vector<api::ApiServer> api_servers;
  std::vector<api::Image> images;
  std::vector<ClusterVersion> cluster_versions;
  std::vector<api::CredentialProviderConfig> credential_providers;

  View view;            // Points into the lists.
  SourcesView sources;  // Also points into the lists.
};

// A problem that the controllers would report in the status of an object.
struct ObjectProblem {
  std::string kind;
  std::string name;  // NAMESPACE/NAME if the object is in a namespace.
  std::string message;
};

struct TrialInputs {
  // If nullptr, no configs are made from templates, and the templates' configs in the cluster are used.
  const generated::TemplateFolder* templates = nullptr;
  Versions versions;  // The versions of the controllers that make the configs.
  WallTime now;
  generated::MadeFromFilter only = {};  // Limits the sources from which configs are made.
};

struct TrialOutcome {
  struct Config {
    MadeFrom from;
    generated::MachineConfig config;
  };

  std::vector<Config> configs;  // In the order in which they are made.
  std::vector<GenerateProblem> problems;
};

class TrialCluster {
 public:
  // Adds an object, or replaces the object of the same kind and name.
  void Put(json::Value object);
  // Returns an object, which must exist.
  json::Value& At(std::string_view kind, const std::string& namespace_name, const std::string& name);
  // Removes an object of a cluster-wide kind, if it exists.
  void Remove(std::string_view kind, const std::string& name);
  // Applies a merge patch or a JSON patch to an object, which must exist.  Supports only the JSON patches that passes
  // make, in which each operation sets a member.
  void Patch(std::string_view kind, const std::string& namespace_name, const std::string& name,
             const json::Value& patch);

  // Returns whether there is any object of a kind.
  bool Has(std::string_view kind) const;
  // Returns nullptr if there is no such object.
  const json::Value* Find(std::string_view kind, const std::string& namespace_name, const std::string& name) const;
  // Returns the objects of a kind, by "NAMESPACE/NAME".
  const std::map<std::string, json::Value>& Documents(std::string_view kind) const;

  // Returns copies of all objects, and the views of them that the passes need.
  TrialObjects Look() const;

  // Decides and writes in rounds, until nothing is left to write.  Returns an error if this takes too many rounds,
  // which is a defect of the passes.
  Result<TrialOutcome> Settle(const TrialInputs& inputs);

  // Returns the problems in the statuses of the objects from which configs are made.
  std::vector<ObjectProblem> Problems() const;

 private:
  template <typename T>
  std::vector<T> All(std::string_view kind) const;
  void Apply(const GenerateChanges& changes);

  // The objects by kind, and by "NAMESPACE/NAME".
  std::map<std::string, std::map<std::string, json::Value>, std::less<>> objects_;
  int version_ = 0;  // The resourceVersion of the object that was written last.
};

}  // namespace pintle::controller
