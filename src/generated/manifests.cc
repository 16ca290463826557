// SPDX-License-Identifier: Apache-2.0
#include "generated/manifests.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "api/annotations.h"
#include "api/controller_config.h"
#include "api/machine_os_config.h"
#include "api/tls_security_profile.h"
#include "generated/invalid.h"
#include "generated/pull_secret.h"
#include "generated/render_config.h"
#include "gotext/quote.h"
#include "json/fields.h"
#include "machineconfig/input.h"
#include "machineconfig/objects.h"

namespace pintle::generated {
namespace {

// The name of an object if a cluster has only one object of its kind.
constexpr std::string_view kSingletonName = "cluster";

// The effect of a manifest on an earlier manifest of the same object.
enum class Effect { kReplacesIt, kIsAddedToIt, kIsReplacedByIt };

template <typename T, std::optional<T> Manifests::*kMember>
Result<Effect> SetObject(json::Value object, std::string_view kind, Manifests& to) {
  to.*kMember = TRY(machineconfig::ReadObject<T>(std::move(object), kind));
  return Effect::kReplacesIt;
}

Result<Effect> SetControllerConfig(json::Value object, std::string_view kind, Manifests& to) {
  TRY(CheckControllerConfigSpec(std::as_const(object)["spec"]));
  TRY(machineconfig::ReadObject<api::ControllerConfig>(object, kind));
  to.controller_config = std::move(object);
  return Effect::kReplacesIt;
}

Result<Effect> SetApiServer(json::Value object, std::string_view kind, Manifests& to) {
  TRY(machineconfig::ReadObject<api::ApiServer>(object, kind));
  to.api_server = std::move(object);
  return Effect::kReplacesIt;
}

template <typename T, std::vector<T> Manifests::*kMember>
Result<Effect> AppendObject(json::Value object, std::string_view kind, Manifests& to) {
  (to.*kMember).push_back(TRY(machineconfig::ReadObject<T>(std::move(object), kind)));
  return Effect::kIsAddedToIt;
}

Result<Effect> AppendMachineConfig(json::Value object, std::string_view, Manifests& to) {
  to.machine_configs.push_back(TRY(machineconfig::ReadMachineConfig(std::move(object))));
  return Effect::kIsAddedToIt;
}

// Returns the document without members that mean the same to Go as a missing member.  Texts stay, because an empty
// value of a label means something.
json::Value WithoutDefaults(const json::Value& document) {
  if (!document.is_object()) return document;
  json::Value kept = json::Value::object();
  for (const auto& [key, member] : document.members()) {
    json::Value value = WithoutDefaults(member);
    const bool is_default = value.is_null() || (value.is_boolean() && !value.boolean()) ||
                            (value.is_object() && value.empty()) ||
                            (value.is_number() && value.real() == 0 && key != "maxUnavailable");
    if (!is_default) kept[key] = std::move(value);
  }
  return kept;
}

// Returns whether a document equals the manifest that the operator itself writes for this pool at each installation.
bool IsManifestOfOperator(const json::Value& document, const std::string& pool) {
  const bool is_known = pool == api::kMasterPool || pool == api::kWorkerPool || pool == api::kArbiterPool;
  if (!is_known) return false;
  json::Value labels = json::Value::object();
  labels[api::kBuiltInPoolLabel] = "";
  labels["pools.operator.machineconfiguration.openshift.io/" + pool] = "";
  if (pool != api::kWorkerPool) labels["operator.machineconfiguration.openshift.io/required-for-upgrade"] = "";
  json::Value role = json::Value::object();
  role[api::kRoleLabel] = pool;
  json::Value nodes = json::Value::object();
  nodes[std::string(api::kRoleLabelPrefix) + pool] = "";
  const json::Value manifest_of_operator = {
      {"apiVersion", api::kMachineConfigApiVersion},
      {"kind", "MachineConfigPool"},
      {"metadata", {{"name", pool}, {"labels", std::move(labels)}}},
      {"spec",
       {{"machineConfigSelector", {{"matchLabels", std::move(role)}}},
        {"nodeSelector", {{"matchLabels", std::move(nodes)}}}}},
  };
  return WithoutDefaults(document) == manifest_of_operator;
}

Result<Effect> AddPool(json::Value object, std::string_view kind, Manifests& to) {
  PoolManifest added;
  added.pool = TRY(machineconfig::ReadObject<api::MachineConfigPool>(object, kind));
  added.document = std::move(object);
  const std::string& name = added.pool.metadata.name;
  // Bootstrap writes the pool to a file of this name.
  if (name.empty() || name.find('/') != std::string::npos) {
    return Invalid(fmt::format("{} cannot be the name of a pool", gotext::Quoted(name)));
  }
  const auto same = std::find_if(to.pools.begin(), to.pools.end(),
                                 [&](const PoolManifest& known) { return known.pool.metadata.name == name; });
  if (same == to.pools.end()) {
    to.pools.push_back(std::move(added));
    return Effect::kReplacesIt;
  }
  // A user's manifest of the same pool wins, in whatever order the manifests are.
  if (IsManifestOfOperator(added.document, name)) return Effect::kIsReplacedByIt;
  *same = std::move(added);
  return Effect::kReplacesIt;
}

Result<Effect> NoteReleaseImage(json::Value, std::string_view kind, Manifests& to) {
  to.has_release_image = true;
  to.without_effect.push_back(
      fmt::format("{} {}: its MachineConfigs are not made, so no node runs its registry; only the credentials of this "
                  "registry are added to the pull secret",
                  kind, kSingletonName));
  return Effect::kReplacesIt;
}

Result<Effect> NotePreBuiltImage(json::Value object, std::string_view kind, Manifests& to) {
  const auto config = TRY(machineconfig::ReadObject<api::MachineOSConfig>(std::move(object), kind));
  if (config.metadata.Annotation(api::kPreBuiltImageAnnotation).empty()) return Effect::kReplacesIt;
  to.without_effect.push_back(
      fmt::format("{} {}: its pre-built image is not used; new machines get the image of the ControllerConfig. Set "
                  "osImageURL in a MachineConfig of the pool to use the image from the beginning",
                  kind, config.metadata.name));
  return Effect::kReplacesIt;
}

struct ManifestKind {
  std::string_view api_version;  // Objects of other versions are ignored.
  std::string_view kind;
  std::string_view name;  // Objects with other names are ignored; empty accepts all names.
  Result<Effect> (*add)(json::Value object, std::string_view kind, Manifests& to);
};

constexpr auto kManifestKinds = std::to_array<ManifestKind>({
    {api::kMachineConfigApiVersion, "MachineConfigPool", "", AddPool},
    {api::kMachineConfigApiVersion, "MachineConfig", "", AppendMachineConfig},
    {api::kMachineConfigApiVersion, "ControllerConfig", "", SetControllerConfig},
    {api::kMachineConfigApiVersion, "KubeletConfig", "", AppendObject<api::KubeletConfig, &Manifests::kubelet_configs>},
    {api::kMachineConfigApiVersion, "ContainerRuntimeConfig", "",
     AppendObject<api::ContainerRuntimeConfig, &Manifests::runtime_configs>},
    {api::kMachineConfigApiVersion, "OSImageStream", "", SetObject<api::OSImageStream, &Manifests::os_image_stream>},
    {api::kMachineConfigApiVersion, "InternalReleaseImage", kSingletonName, NoteReleaseImage},
    {"machineconfiguration.openshift.io/v1alpha1", "InternalReleaseImage", kSingletonName, NoteReleaseImage},
    {api::kMachineConfigApiVersion, "MachineOSConfig", "", NotePreBuiltImage},
    {api::kConfigApiVersion, "FeatureGate", kSingletonName, SetObject<api::FeatureGate, &Manifests::feature_gate>},
    {api::kConfigApiVersion, "Node", kSingletonName, SetObject<api::NodeSettings, &Manifests::node_settings>},
    {api::kConfigApiVersion, "APIServer", kSingletonName, SetApiServer},
    {api::kConfigApiVersion, "Image", "", SetObject<api::Image, &Manifests::image>},
    {api::kConfigApiVersion, "ImageDigestMirrorSet", "", AppendObject<api::MirrorSet, &Manifests::digest_sets>},
    {api::kConfigApiVersion, "ImageTagMirrorSet", "", AppendObject<api::MirrorSet, &Manifests::tag_sets>},
    {api::kConfigApiVersion, "ClusterImagePolicy", "", AppendObject<api::ImagePolicy, &Manifests::cluster_policies>},
    {api::kConfigApiVersion, "ImagePolicy", "", AppendObject<api::ImagePolicy, &Manifests::namespace_policies>},
    {"operator.openshift.io/v1alpha1", "ImageContentSourcePolicy", "",
     AppendObject<api::MirrorSet, &Manifests::content_source_policies>},
    {"v1", "Secret", kReleaseRegistrySecret, SetObject<api::Secret, &Manifests::release_registry>},
});

std::string KeyOf(std::string_view kind, std::string_view name) { return fmt::format("{} {}", kind, name); }

}  // namespace

std::string Manifests::PlaceOf(std::string_view kind, std::string_view name) const {
  const auto place = places.find(KeyOf(kind, name));
  return place == places.end() ? "" : place->second;
}

Result<> AddManifest(json::Value object, const std::string& place, Manifests& to) {
  const std::string_view kind = machineconfig::KindOf(object);
  if (kind.empty()) return Invalid("Object 'Kind' is missing");
  const std::string& api_version = object.TextAt({"apiVersion"});
  if (api_version.empty()) return Invalid("Object 'apiVersion' is missing");
  const std::string name = object.TextAt({"metadata", "name"});
  const auto known = std::find_if(kManifestKinds.begin(), kManifestKinds.end(), [&](const ManifestKind& known_kind) {
    return known_kind.kind == kind && known_kind.api_version == api_version &&
           (known_kind.name.empty() || known_kind.name == name);
  });
  if (known == kManifestKinds.end()) {
    if (kind.ends_with("List") && object.contains("items")) {
      to.without_effect.push_back(
          fmt::format("{}: a List has no effect; write its items as documents of their own", place));
    }
    return {};
  }
  const Effect effect = TRY(known->add(std::move(object), known->kind, to));
  const auto [known_place, is_first] = to.places.try_emplace(KeyOf(known->kind, name), place);
  if (!is_first && effect == Effect::kReplacesIt) known_place->second = place;
  if (!is_first && effect == Effect::kIsAddedToIt) known_place->second += " and " + place;
  return {};
}

Result<Manifests> ReadManifests(const std::string& folder) {
  Manifests manifests;
  // Files of all names are read, because the operator itself writes a manifest without a file extension.
  auto named = machineconfig::FilesNamedBy({&folder, 1}, {}, machineconfig::EmptyDirectory::kAllowed,
                                           machineconfig::HiddenFiles::kRead);
  if (!named.faults.empty()) return std::move(named.faults.front());
  for (const machineconfig::InputFile& file : named.files) {
    std::vector<json::Value> documents =
        TRY(machineconfig::ReadDocuments(file.path, file.accepts), "error parsing manifests");
    std::size_t number = 0;
    for (json::Value& document : documents) {
      const std::string place = fmt::format("{} [{}]", gotext::Quoted(file.path), ++number);
      TRY(AddManifest(std::move(document), place, manifests), fmt::format("error parsing {} manifest", place));
    }
  }
  return manifests;
}

Result<> CheckComplete(const Manifests& manifests, std::string_view folder) {
  const auto missing = [&](std::string_view lower_case_kind, std::string_view object) {
    return Error(ErrorKind::kNotFound, fmt::format("error: no {} found in dir: {}; put the manifest of the {} there",
                                                   lower_case_kind, gotext::Quoted(folder), object));
  };
  if (!manifests.controller_config) return missing("controllerconfig", "ControllerConfig");
  if (!manifests.feature_gate) return missing("featuregate", "FeatureGate \"cluster\"");
  return {};
}

}  // namespace pintle::generated
