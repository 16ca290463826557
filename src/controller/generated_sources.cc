// SPDX-License-Identifier: Apache-2.0
#include "controller/generated_sources.h"

#include <fmt/core.h>

#include <type_traits>
#include <utility>

#include "controller/controller_parts.h"
#include "controller/reasons.h"
#include "generated/pull_secret.h"
#include "json/fields.h"

namespace pintle::controller {
namespace {

// The namespace of the Secret with the password of the cluster's own registry.
constexpr const char* kOperatorNamespace = "openshift-machine-config-operator";

// The part of the controller that generates configs from a kind: kRuntimePart, unless another part is listed below.
template <typename T>
constexpr std::string_view kPartOf = kRuntimePart;
template <>
constexpr std::string_view kPartOf<api::KubeletConfig> = kKubeletPart;
template <>
constexpr std::string_view kPartOf<api::FeatureGate> = kKubeletPart;
template <>
constexpr std::string_view kPartOf<api::NodeSettings> = kKubeletPart;
template <>
constexpr std::string_view kPartOf<api::ApiServer> = kTemplatePart;
template <>
constexpr std::string_view kPartOf<InternalReleaseImage> = kTemplatePart;

// States whether the passes write to objects of a kind.  Such a write contains the version of the object that it was
// decided from.
template <typename T>
constexpr bool kIsWritten = false;
template <>
constexpr bool kIsWritten<WholeControllerConfig> = true;
template <>
constexpr bool kIsWritten<api::KubeletConfig> = true;
template <>
constexpr bool kIsWritten<api::ContainerRuntimeConfig> = true;
template <>
constexpr bool kIsWritten<api::ImagePolicy> = true;
template <>
constexpr bool kIsWritten<api::CredentialProviderConfig> = true;

const OverlaidObjects& ObjectsInUse(const OverlaidObjects& objects) { return objects; }
template <typename T, typename Old>
const OverlaidObjects& ObjectsInUse(const VersionedMirror<T, Old>& mirror) {
  return mirror.in_use();
}

void AddVersions(const OverlaidObjects& objects, std::string& text) {
  objects.VisitAll([&](const kube::AnyObject& object) {
    text += fmt::format(" {} {}", object.metadata().uid, object.metadata().resource_version);
  });
}

void AddUnreadable(const OverlaidObjects& objects, std::string& text) {
  objects.VisitUnreadable([&](const kube::AnyObject& object, const Error& why) {
    text += fmt::format(" {} {}", object.metadata().name, why.message());
  });
}

}  // namespace

template <typename T>
OverlaidObjects::Listener GeneratedSources::ListenerFor(const Listener& listener) {
  const auto changed = [this, inform = listener.changed] {
    ++content_changes_;
    inform();
  };
  return OverlaidObjects::ListenerFor(kube::kResourceKind<T>, changed, listener.trouble, listener.unreadable);
}

GeneratedSources::GeneratedSources(kube::Client& client, const Listener& listener)
    : whole_controller_configs_(client, Need::kAlways, ListenerFor<WholeControllerConfig>(listener)),
      internal_release_images_(client, ListenerFor<InternalReleaseImage>(listener)),
      pull_secret_(client, ListenerFor<PullSecret>(listener)),
      registry_secret_(client, ListenerFor<PullSecret>(listener)),
      kubelet_configs_(client, Need::kIfInstalled, ListenerFor<api::KubeletConfig>(listener)),
      runtime_configs_(client, Need::kIfInstalled, ListenerFor<api::ContainerRuntimeConfig>(listener)),
      feature_gates_(client, Need::kIfServed, ListenerFor<api::FeatureGate>(listener)),
      node_settings_(client, Need::kIfServed, ListenerFor<api::NodeSettings>(listener)),
      api_servers_(client, Need::kIfServed, ListenerFor<api::ApiServer>(listener)),
      images_(client, Need::kIfServed, ListenerFor<api::Image>(listener)),
      cluster_versions_(client, Need::kIfServed, ListenerFor<ClusterVersion>(listener)),
      content_source_policies_(client, Need::kIfServed, ListenerFor<ContentSourcePolicy>(listener)),
      digest_sets_(client, Need::kIfServed, ListenerFor<DigestMirrorSet>(listener)),
      tag_sets_(client, Need::kIfServed, ListenerFor<TagMirrorSet>(listener)),
      cluster_policies_(client, Need::kIfServed, ListenerFor<ClusterImagePolicy>(listener)),
      namespace_policies_(client, Need::kIfServed, ListenerFor<api::ImagePolicy>(listener)),
      credential_providers_(client, ListenerFor<api::CredentialProviderConfig>(listener)) {}

template <typename Visit>
void GeneratedSources::ForEachKind(Visit&& visit) const {
  visit(whole_controller_configs_);
  visit(internal_release_images_);
  visit(kubelet_configs_);
  visit(runtime_configs_);
  visit(feature_gates_);
  visit(node_settings_);
  visit(api_servers_);
  visit(images_);
  visit(cluster_versions_);
  visit(content_source_policies_);
  visit(digest_sets_);
  visit(tag_sets_);
  visit(cluster_policies_);
  visit(namespace_policies_);
  visit(credential_providers_);
}

void GeneratedSources::FollowSecrets() {
  if (const WholeControllerConfig* const input = whole_controller_configs_.Find(api::kControllerConfigName)) {
    pull_secret_.Follow({.namespace_name = input->spec.TextAt({"pullSecret", "namespace"}),
                         .name = input->spec.TextAt({"pullSecret", "name"})});
  }
  kube::ObjectName registry;
  if (internal_release_images_.Find(kSingletonName) != nullptr) {
    registry = {.namespace_name = kOperatorNamespace, .name = std::string(generated::kReleaseRegistrySecret)};
  }
  registry_secret_.Follow(std::move(registry));
}

void GeneratedSources::StoreAnswer(OldCredentialProviderConfig object) {
  credential_providers_.StoreAnswer(std::move(object));
}

bool GeneratedSources::is_ready() const {
  bool are_ready = true;
  ForEachKind([&](const auto& mirror) { are_ready = are_ready && mirror.is_ready(); });
  return are_ready && pull_secret_.is_ready() && registry_secret_.is_ready();
}

std::string GeneratedSources::WhyNotReady() const {
  std::string text;
  ForEachKind([&](const auto& mirror) {
    const OverlaidObjects& objects = ObjectsInUse(mirror);
    if (mirror.is_ready() || objects.refusal().empty()) return;
    AddReason(fmt::format("listing {}: {}", objects.kind().plural, objects.refusal()), text);
  });
  return text;
}

bool GeneratedSources::HasRead(const api::ControllerConfig* config) const {
  const WholeControllerConfig* const input = whole_controller_configs_.Find(api::kControllerConfigName);
  if (input == nullptr || config == nullptr) return input == nullptr && config == nullptr;
  return input->metadata.uid == config->metadata.uid && input->metadata.generation == config->metadata.generation;
}

std::string GeneratedSources::VersionsText() const {
  std::string text = fmt::format("{} {}", content_changes_, pull_secret_.WhyUnreadable());
  text += registry_secret_.WhyUnreadable();
  ForEachKind([&](const auto& mirror) {
    using T = typename std::remove_cvref_t<decltype(mirror)>::Object;
    const OverlaidObjects& objects = ObjectsInUse(mirror);
    text += fmt::format("\n{}", objects.kind().plural);
    if (kIsWritten<T>) AddVersions(objects, text);
    AddUnreadable(objects, text);
  });
  return text;
}

std::vector<MissingKind> GeneratedSources::Missing() const {
  std::vector<MissingKind> missing;
  const auto add = [&](const kube::ResourceKind& kind, std::string_view part) {
    missing.push_back({fmt::format("{}.{}", kind.plural, kind.group), part});
  };
  ForEachKind([&](const auto& mirror) {
    using T = typename std::remove_cvref_t<decltype(mirror)>::Object;
    if (mirror.is_missing()) add(kube::kResourceKind<T>, kPartOf<T>);
  });
  return missing;
}

SourcesView GeneratedSources::Look() const {
  SourcesView view;
  const auto point_at = [](auto& pointers) { return [&](const auto& object) { pointers.push_back(&object); }; };
  const auto copy_to = [](auto& objects) { return [&](const auto& object) { objects.push_back(object); }; };
  const auto note_in = [](std::string& reasons) {
    return [&](const auto&, const Error& why) { AddReason(why.message(), reasons); };
  };
  // The controller reads only the object with the given name of each of these kinds.
  const auto note_named = [](const auto& objects, std::string_view name, std::string& reasons) {
    objects.ForEachUnreadable([&](const auto& object, const Error& why) {
      if (object.metadata.name == name) AddReason(why.message(), reasons);
    });
  };
  view.whole_controller_config = whole_controller_configs_.Find(api::kControllerConfigName);
  view.pull_secret = pull_secret_.Find();
  view.why_pull_secret_is_unreadable = pull_secret_.WhyUnreadable();
  view.has_own_registry = internal_release_images_.Find(kSingletonName) != nullptr;
  view.registry_secret = registry_secret_.Find();
  view.why_registry_secret_is_unreadable = registry_secret_.WhyUnreadable();
  kubelet_configs_.ForEach(point_at(view.kubelet_configs));
  runtime_configs_.ForEach(point_at(view.runtime_configs));
  view.feature_gate = feature_gates_.Find(kSingletonName);
  view.node_settings = node_settings_.Find(kSingletonName);
  node_settings_.ForEach([&](const api::NodeSettings& settings) {
    if (settings.metadata.name != kSingletonName) view.other_node_settings.push_back(&settings);
  });
  view.api_server = api_servers_.Find(kSingletonName);
  view.image = images_.Find(kSingletonName);
  view.cluster_version = cluster_versions_.Find(kClusterVersionName);
  content_source_policies_.ForEach(copy_to(view.content_source_policies));
  digest_sets_.ForEach(copy_to(view.digest_sets));
  tag_sets_.ForEach(copy_to(view.tag_sets));
  cluster_policies_.ForEach(copy_to(view.cluster_policies));
  namespace_policies_.ForEach(copy_to(view.namespace_policies));
  view.credential_providers = credential_providers_.Find(kSingletonName);

  note_named(whole_controller_configs_, api::kControllerConfigName, view.why_settings_are_unreadable);
  note_named(internal_release_images_, kSingletonName, view.why_settings_are_unreadable);
  note_named(feature_gates_, kSingletonName, view.why_settings_are_unreadable);
  note_named(node_settings_, kSingletonName, view.why_settings_are_unreadable);
  note_named(api_servers_, kSingletonName, view.why_settings_are_unreadable);
  kubelet_configs_.ForEachUnreadable(note_in(view.why_kubelet_configs_are_unreadable));
  runtime_configs_.ForEachUnreadable(note_in(view.why_runtime_configs_are_unreadable));
  note_named(images_, kSingletonName, view.why_images_are_unreadable);
  note_named(cluster_versions_, kClusterVersionName, view.why_images_are_unreadable);
  const auto note_image_setting = note_in(view.why_images_are_unreadable);
  content_source_policies_.ForEachUnreadable(note_image_setting);
  digest_sets_.ForEachUnreadable(note_image_setting);
  tag_sets_.ForEachUnreadable(note_image_setting);
  cluster_policies_.ForEachUnreadable(note_image_setting);
  namespace_policies_.ForEachUnreadable(note_image_setting);
  note_named(credential_providers_, kSingletonName, view.why_credential_providers_are_unreadable);
  return view;
}

}  // namespace pintle::controller
