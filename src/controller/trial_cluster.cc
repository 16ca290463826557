// SPDX-License-Identifier: Apache-2.0
#include "controller/trial_cluster.h"

#include <algorithm>
#include <array>
#include <set>
#include <variant>

#include "api/controller_config.h"
#include "controller/generate_pass.h"
#include "controller/source_problems.h"
#include "controller/watched.h"
#include "generated/render_config.h"
#include "json/fields.h"
#include "machineconfig/objects.h"

namespace pintle::controller {
namespace {

template <typename T>
Result<> CheckDecodes(const json::Value& object) {
  json::Report report;
  static_cast<void>(json::Decode<T>(object, report));
  return report.ToResult();
}

Result<> CheckConfig(const json::Value& object) {
  TRY(machineconfig::ReadMachineConfig(object));
  return {};
}

Result<> CheckControllerConfig(const json::Value& object) {
  TRY(CheckDecodes<api::ControllerConfig>(object));
  return generated::CheckControllerConfigSpec(object["spec"]);
}

template <typename T>
constexpr TrialKind KindWithCheck() {
  return {.resource = kube::kResourceKind<T>, .check = CheckDecodes<T>};
}

constexpr std::array kTrialKinds = {
    KindWithCheck<api::MachineConfigPool>(),
    TrialKind{.resource = kube::kResourceKind<api::MachineConfig>, .check = CheckConfig},
    TrialKind{.resource = kube::kResourceKind<api::ControllerConfig>, .check = CheckControllerConfig},
    KindWithCheck<api::MachineConfiguration>(),
    KindWithCheck<api::OSImageStream>(),
    KindWithCheck<PullSecret>(),
    KindWithCheck<api::KubeletConfig>(),
    KindWithCheck<api::ContainerRuntimeConfig>(),
    KindWithCheck<api::FeatureGate>(),
    KindWithCheck<api::NodeSettings>(),
    KindWithCheck<api::ApiServer>(),
    KindWithCheck<api::Image>(),
    KindWithCheck<ClusterVersion>(),
    KindWithCheck<ContentSourcePolicy>(),
    KindWithCheck<DigestMirrorSet>(),
    KindWithCheck<TagMirrorSet>(),
    KindWithCheck<ClusterImagePolicy>(),
    KindWithCheck<api::ImagePolicy>(),
    KindWithCheck<api::CredentialProviderConfig>(),
    KindWithCheck<OldCredentialProviderConfig>(),  // A cluster may serve this version only.
};

std::string_view GroupOf(std::string_view api_version) {
  const std::size_t slash = api_version.find('/');
  return slash == std::string_view::npos ? std::string_view() : api_version.substr(0, slash);
}

// All kinds whose statuses may report a problem.
constexpr std::array kSourceKinds = {SourceKind::kControllerConfig, SourceKind::kKubeletConfig,
                                     SourceKind::kContainerRuntimeConfig, SourceKind::kImagePolicy,
                                     SourceKind::kCredentialProviderConfig};

std::string KeyOf(const std::string& namespace_name, const std::string& name) { return namespace_name + "/" + name; }

// Applies a merge patch as RFC 7386 defines it.
void MergeInto(json::Value& object, const json::Value& patch) {
  if (!patch.is_object()) {
    object = patch;
    return;
  }
  if (!object.is_object()) object = json::Value::object();
  for (const auto& [key, member] : patch.members()) {
    if (member.is_null()) {
      object.Erase(key);
    } else {
      MergeInto(object[key], member);
    }
  }
}

// Sets the value at a path such as "/spec/config".
void SetValueAt(json::Value& object, std::string_view path, const json::Value& value) {
  json::Value* target = &object;
  while (!path.empty()) {
    path.remove_prefix(1);  // The slash.
    const std::size_t end = std::min(path.find('/'), path.size());
    target = &(*target)[path.substr(0, end)];
    path.remove_prefix(end);
  }
  *target = value;
}

// Returns nullptr if there is no object with the name.
template <typename T>
const T* NamedIn(const std::vector<T>& objects, std::string_view name) {
  const auto found = std::find_if(objects.begin(), objects.end(), [&](const T& o) { return o.metadata.name == name; });
  return found == objects.end() ? nullptr : &*found;
}

template <typename T>
std::vector<const T*> PointersInto(const std::vector<T>& objects) {
  std::vector<const T*> pointers;
  for (const T& object : objects) pointers.push_back(&object);
  return pointers;
}

// Returns the Secret that a ControllerConfig names, or nullptr.
const PullSecret* SecretOf(const WholeControllerConfig& input, const std::vector<PullSecret>& secrets) {
  const auto found = std::find_if(secrets.begin(), secrets.end(), [&](const PullSecret& secret) {
    return secret.metadata.name == input.spec.TextAt({"pullSecret", "name"}) &&
           secret.metadata.namespace_name == input.spec.TextAt({"pullSecret", "namespace"});
  });
  return found == secrets.end() ? nullptr : &*found;
}

}  // namespace

std::span<const TrialKind> TrialKinds() { return kTrialKinds; }

const TrialKind* FindTrialKind(const json::Value& object) {
  const std::string_view kind = machineconfig::KindOf(object);
  const std::string& api_version = object.TextAt({"apiVersion"});
  const auto found = std::find_if(kTrialKinds.begin(), kTrialKinds.end(), [&](const TrialKind& known) {
    return known.resource.kind == kind && (api_version.empty() || known.resource.group == GroupOf(api_version));
  });
  return found == kTrialKinds.end() ? nullptr : &*found;
}

std::string FullNameOf(const json::Value& object) {
  const TrialKind* const kind = FindTrialKind(object);
  const bool is_namespaced = kind != nullptr && kind->resource.scope == kube::Scope::kNamespaced;
  return kube::ObjectName{.namespace_name = is_namespaced ? object.TextAt({"metadata", "namespace"}) : "",
                          .name = object.TextAt({"metadata", "name"})}
      .ToString();
}

bool IsReportedOn(const json::Value& object) {
  const std::string_view kind = machineconfig::KindOf(object);
  return std::any_of(kSourceKinds.begin(), kSourceKinds.end(),
                     [&](SourceKind source) { return KindOfSource(source) == kind; });
}

void TrialCluster::Put(json::Value object) {
  json::Value& metadata = object["metadata"];
  metadata["resourceVersion"] = std::to_string(++version_);
  const std::string kind(machineconfig::KindOf(object));
  // A namespace in an object of a cluster-wide kind means nothing.
  const TrialKind* const known = FindTrialKind(object);
  if (known != nullptr && known->resource.scope == kube::Scope::kCluster) metadata.Erase("namespace");
  const std::string key = KeyOf(metadata.TextAt({"namespace"}), metadata.TextAt({"name"}));
  objects_[kind].insert_or_assign(key, std::move(object));
}

json::Value& TrialCluster::At(std::string_view kind, const std::string& namespace_name, const std::string& name) {
  return objects_.find(kind)->second.at(KeyOf(namespace_name, name));
}

void TrialCluster::Remove(std::string_view kind, const std::string& name) {
  const auto found = objects_.find(kind);
  if (found != objects_.end()) found->second.erase(KeyOf("", name));
}

void TrialCluster::Patch(std::string_view kind, const std::string& namespace_name, const std::string& name,
                         const json::Value& patch) {
  json::Value object = At(kind, namespace_name, name);
  if (patch.is_array()) {
    for (const json::Value& operation : patch) {
      SetValueAt(object, operation.TextAt({"path"}), operation["value"]);
    }
  } else {
    MergeInto(object, patch);
  }
  Put(std::move(object));
}

bool TrialCluster::Has(std::string_view kind) const { return !Documents(kind).empty(); }

const json::Value* TrialCluster::Find(std::string_view kind, const std::string& namespace_name,
                                      const std::string& name) const {
  const auto& documents = Documents(kind);
  const auto found = documents.find(KeyOf(namespace_name, name));
  return found == documents.end() ? nullptr : &found->second;
}

const std::map<std::string, json::Value>& TrialCluster::Documents(std::string_view kind) const {
  static const std::map<std::string, json::Value> kNone;
  const auto found = objects_.find(kind);
  return found == objects_.end() ? kNone : found->second;
}

template <typename T>
std::vector<T> TrialCluster::All(std::string_view kind) const {
  std::vector<T> all;
  for (const auto& [name, object] : Documents(kind)) {
    json::Report report;
    all.push_back(json::Decode<T>(object, report));
  }
  return all;
}

TrialObjects TrialCluster::Look() const {
  TrialObjects objects;
  objects.pools = All<api::MachineConfigPool>("MachineConfigPool");
  objects.configs = All<api::MachineConfig>("MachineConfig");
  objects.controller_configs = All<api::ControllerConfig>("ControllerConfig");
  objects.machine_configurations = All<api::MachineConfiguration>("MachineConfiguration");
  objects.os_image_streams = All<api::OSImageStream>("OSImageStream");
  objects.whole_controller_configs = All<WholeControllerConfig>("ControllerConfig");
  objects.pull_secrets = All<PullSecret>("Secret");
  objects.kubelet_configs = All<api::KubeletConfig>("KubeletConfig");
  objects.runtime_configs = All<api::ContainerRuntimeConfig>("ContainerRuntimeConfig");
  objects.feature_gates = All<api::FeatureGate>("FeatureGate");
  objects.node_settings = All<api::NodeSettings>("Node");
  objects.api_servers = All<api::ApiServer>("APIServer");
  objects.images = All<api::Image>("Image");
  objects.cluster_versions = All<ClusterVersion>("ClusterVersion");
  objects.credential_providers = All<api::CredentialProviderConfig>("CRIOCredentialProviderConfig");

  View& view = objects.view;
  view.pools = PointersInto(objects.pools);
  view.configs = PointersInto(objects.configs);
  view.controller_config = NamedIn(objects.controller_configs, api::kControllerConfigName);
  view.machine_configuration = NamedIn(objects.machine_configurations, kSingletonName);
  view.os_image_stream = NamedIn(objects.os_image_streams, kSingletonName);

  SourcesView& sources = objects.sources;
  sources.whole_controller_config = NamedIn(objects.whole_controller_configs, api::kControllerConfigName);
  if (sources.whole_controller_config != nullptr) {
    sources.pull_secret = SecretOf(*sources.whole_controller_config, objects.pull_secrets);
  }
  sources.kubelet_configs = PointersInto(objects.kubelet_configs);
  sources.runtime_configs = PointersInto(objects.runtime_configs);
  sources.feature_gate = NamedIn(objects.feature_gates, kSingletonName);
  sources.node_settings = NamedIn(objects.node_settings, kSingletonName);
  sources.api_server = NamedIn(objects.api_servers, kSingletonName);
  sources.image = NamedIn(objects.images, kSingletonName);
  sources.cluster_version = NamedIn(objects.cluster_versions, kClusterVersionName);
  sources.credential_providers = NamedIn(objects.credential_providers, kSingletonName);
  sources.content_source_policies = All<api::MirrorSet>("ImageContentSourcePolicy");
  sources.digest_sets = All<api::MirrorSet>("ImageDigestMirrorSet");
  sources.tag_sets = All<api::MirrorSet>("ImageTagMirrorSet");
  sources.cluster_policies = All<api::ImagePolicy>("ClusterImagePolicy");
  sources.namespace_policies = All<api::ImagePolicy>("ImagePolicy");
  return objects;
}

Result<TrialOutcome> TrialCluster::Settle(const TrialInputs& inputs) {
  // Several rounds are needed, because each writes only a part: first finalizers, then configs, then statuses.
  constexpr int kMostRounds = 10;
  const generated::TemplateFolder no_templates("");
  const std::map<std::string, std::string, std::less<>> refused;
  const std::set<std::string, std::less<>> none_awaited;
  for (int round = 0; round < kMostRounds; ++round) {
    const TrialObjects objects = Look();
    TrialOutcome outcome;
    GenerateChanges changes =
        GeneratePass({.view = objects.view,
                      .sources = objects.sources,
                      .templates = inputs.templates == nullptr ? no_templates : *inputs.templates,
                      .version = SigningVersion(objects.view.configs, inputs.versions),
                      .now = inputs.now,
                      .refused = refused,
                      .awaited_configs = none_awaited,
                      .templates_from = inputs.templates == nullptr ? TemplatesFrom::kCluster : TemplatesFrom::kFolder,
                      .only = inputs.only,
                      .made = [&](MadeFrom from, const generated::MachineConfig& config) {
                        outcome.configs.push_back({from, config});
                      }});
    if (changes.is_empty()) {
      outcome.problems = std::move(changes.problems);
      return outcome;
    }
    Apply(changes);
  }
  return Error(ErrorKind::kInvalid,
               "the controllers would change their own objects again and again; please report this as a defect");
}

void TrialCluster::Apply(const GenerateChanges& changes) {
  for (const SourceChange& change : changes.sources) {
    Patch(KindOfSource(change.kind), change.name.namespace_name, change.name.name, change.patch);
  }
  for (const ConfigChange& change : changes.configs) {
    if (const auto* patch = std::get_if<json::Value>(&change.creation_or_patch)) {
      Patch(api::MachineConfig::kKind, "", change.name, *patch);
      continue;
    }
    Put(json::Encode(std::get<api::MachineConfig>(change.creation_or_patch)));
  }
  for (const ConfigRemoval& removal : changes.removals) Remove(api::MachineConfig::kKind, removal.name);
}

std::vector<ObjectProblem> TrialCluster::Problems() const {
  std::vector<ObjectProblem> problems;
  for (const SourceKind source : kSourceKinds) {
    const std::string_view kind = KindOfSource(source);
    for (const auto& [key, object] : Documents(kind)) {
      for (std::string& message : ProblemsIn(source, object["status"])) {
        problems.push_back({.kind = std::string(kind), .name = FullNameOf(object), .message = std::move(message)});
      }
    }
  }
  return problems;
}

}  // namespace pintle::controller
