// SPDX-License-Identifier: Apache-2.0
#include "generated/manifests.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <utility>

#include "api/annotations.h"
#include "api/machine_os_config.h"
#include "generated/invalid.h"
#include "generated/pool_selection.h"
#include "generated/pull_secret.h"
#include "gotext/quote.h"
#include "machineconfig/input.h"
#include "machineconfig/objects.h"

namespace pintle::generated {
namespace {

constexpr std::string_view kMachineConfigGroup = "machineconfiguration.openshift.io";
constexpr std::string_view kConfigGroup = "config.openshift.io";
constexpr std::string_view kOldMirrorsGroup = "operator.openshift.io";
// The name of an object if a cluster has only one object of its kind.
constexpr std::string_view kSingletonName = "cluster";

template <typename T, std::optional<T> Manifests::*kMember>
Result<> SetObject(json::Value object, std::string_view kind, Manifests& to) {
  to.*kMember = TRY(machineconfig::ReadObject<T>(std::move(object), kind));
  return {};
}

template <std::optional<json::Value> Manifests::*kMember>
Result<> SetDocument(json::Value object, std::string_view, Manifests& to) {
  to.*kMember = std::move(object);
  return {};
}

template <typename T, std::vector<T> Manifests::*kMember>
Result<> AppendObject(json::Value object, std::string_view kind, Manifests& to) {
  (to.*kMember).push_back(TRY(machineconfig::ReadObject<T>(std::move(object), kind)));
  return {};
}

Result<> AppendMachineConfig(json::Value object, std::string_view, Manifests& to) {
  to.machine_configs.push_back(TRY(machineconfig::ReadMachineConfig(std::move(object))));
  return {};
}

Result<> AddPool(json::Value object, std::string_view kind, Manifests& to) {
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
  } else if (!IsBuiltIn(added.pool) || IsBuiltIn(same->pool)) {
    // The operator adds manifests of the pools that every cluster has.  A user's manifest of the same pool wins.
    *same = std::move(added);
  }
  return {};
}

Result<> NoteReleaseImage(json::Value, std::string_view kind, Manifests& to) {
  to.has_release_image = true;
  to.without_effect.push_back(
      fmt::format("{} {}: its MachineConfigs are not made, so no node runs its registry; only the credentials of this "
                  "registry are added to the pull secret",
                  kind, kSingletonName));
  return {};
}

Result<> NotePreBuiltImage(json::Value object, std::string_view kind, Manifests& to) {
  const auto config = TRY(machineconfig::ReadObject<api::MachineOSConfig>(std::move(object), kind));
  if (config.metadata.Annotation(api::kPreBuiltImageAnnotation).empty()) return {};
  to.without_effect.push_back(
      fmt::format("{} {}: its pre-built image is not used; new machines get the image of the ControllerConfig. Set "
                  "osImageURL in a MachineConfig of the pool to use the image from the beginning",
                  kind, config.metadata.name));
  return {};
}

struct ManifestKind {
  std::string_view group;
  std::string_view kind;
  std::string_view name;  // Objects with other names are ignored; empty accepts all names.
  Result<> (*add)(json::Value object, std::string_view kind, Manifests& to);
};

constexpr auto kManifestKinds = std::to_array<ManifestKind>({
    {kMachineConfigGroup, "MachineConfigPool", "", AddPool},
    {kMachineConfigGroup, "MachineConfig", "", AppendMachineConfig},
    {kMachineConfigGroup, "ControllerConfig", "", SetDocument<&Manifests::controller_config>},
    {kMachineConfigGroup, "KubeletConfig", "", AppendObject<api::KubeletConfig, &Manifests::kubelet_configs>},
    {kMachineConfigGroup, "ContainerRuntimeConfig", "",
     AppendObject<api::ContainerRuntimeConfig, &Manifests::runtime_configs>},
    {kMachineConfigGroup, "OSImageStream", "", SetObject<api::OSImageStream, &Manifests::os_image_stream>},
    {kMachineConfigGroup, "InternalReleaseImage", kSingletonName, NoteReleaseImage},
    {kMachineConfigGroup, "MachineOSConfig", "", NotePreBuiltImage},
    {kConfigGroup, "FeatureGate", kSingletonName, SetObject<api::FeatureGate, &Manifests::feature_gate>},
    {kConfigGroup, "Node", kSingletonName, SetObject<api::NodeSettings, &Manifests::node_settings>},
    {kConfigGroup, "APIServer", kSingletonName, SetDocument<&Manifests::api_server>},
    {kConfigGroup, "Image", "", SetObject<api::Image, &Manifests::image>},
    {kConfigGroup, "ImageDigestMirrorSet", "", AppendObject<api::MirrorSet, &Manifests::digest_sets>},
    {kConfigGroup, "ImageTagMirrorSet", "", AppendObject<api::MirrorSet, &Manifests::tag_sets>},
    {kConfigGroup, "ClusterImagePolicy", "", AppendObject<api::ImagePolicy, &Manifests::cluster_policies>},
    {kConfigGroup, "ImagePolicy", "", AppendObject<api::ImagePolicy, &Manifests::namespace_policies>},
    {kOldMirrorsGroup, "ImageContentSourcePolicy", "",
     AppendObject<api::MirrorSet, &Manifests::content_source_policies>},
    {"", "Secret", kReleaseRegistrySecret, SetObject<api::Secret, &Manifests::release_registry>},
});

// Returns the part of "GROUP/VERSION" before the slash, or "" for an object of Kubernetes' core.
std::string_view GroupOf(const json::Value& object) {
  const std::string_view version = object.TextAt({"apiVersion"});
  const std::size_t slash = version.find('/');
  return slash == std::string_view::npos ? std::string_view() : version.substr(0, slash);
}

std::string KeyOf(std::string_view kind, std::string_view name) { return fmt::format("{} {}", kind, name); }

}  // namespace

std::string Manifests::PlaceOf(std::string_view kind, std::string_view name) const {
  const auto place = places.find(KeyOf(kind, name));
  return place == places.end() ? "" : place->second;
}

Result<> AddManifest(json::Value object, const std::string& place, Manifests& to) {
  const std::string_view kind = machineconfig::KindOf(object);
  if (kind.empty()) return Invalid("Object 'Kind' is missing");
  const std::string_view group = GroupOf(object);
  const std::string name = object.TextAt({"metadata", "name"});
  const auto known = std::find_if(kManifestKinds.begin(), kManifestKinds.end(), [&](const ManifestKind& one) {
    return one.kind == kind && one.group == group && (one.name.empty() || one.name == name);
  });
  if (known == kManifestKinds.end()) return {};
  TRY(known->add(std::move(object), known->kind, to));
  to.places.insert_or_assign(KeyOf(known->kind, name), place);
  return {};
}

Result<Manifests> ReadManifests(const std::string& folder) {
  Manifests manifests;
  // Files of all names are read, because the operator itself writes a manifest without a file extension.
  const auto named = TRY(machineconfig::FilesNamedBy({&folder, 1}, {}, machineconfig::EmptyDirectory::kAllowed));
  for (const machineconfig::InputFile& file : named.files) {
    std::vector<json::Value> documents =
        TRY(machineconfig::ReadDocuments(file.path, file.accepts), "error parsing manifests");
    std::size_t number = 0;
    for (json::Value& document : documents) {
      const std::string place = fmt::format("{} [{}]", gotext::Quoted(file.path), ++number);
      std::vector<json::Value> single_document;
      single_document.push_back(std::move(document));
      TRY(machineconfig::ForEachObject(
              std::move(single_document),
              [&](json::Value object) -> Result<> { return AddManifest(std::move(object), place, manifests); }),
          fmt::format("error parsing {} manifest", place));
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
