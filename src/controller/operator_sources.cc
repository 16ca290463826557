// SPDX-License-Identifier: Apache-2.0
#include "controller/operator_sources.h"

#include <fmt/core.h>

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <utility>

#include "controller/reasons.h"
#include "controller/replacing_patch.h"
#include "json/fields.h"
#include "json/parse.h"

namespace pintle::controller {
namespace {

constexpr const char* kConfigNamespace = "openshift-config";
constexpr const char* kSystemNamespace = "kube-system";
constexpr const char* kApiServerNamespace = "openshift-kube-apiserver-operator";
constexpr const char* kReleaseImagesName = "machine-config-operator-images";
constexpr const char* kImagesFile = "images.json";

template <typename T>
json::Value SettingIn(const OverlaidMirror<T>& mirror) {
  const T* const setting = mirror.Find(kSingletonName);
  return setting == nullptr ? json::Value() : json::Encode(static_cast<const WholeObject&>(*setting));
}

template <typename T>
std::optional<T> ObjectFollowedBy(const FollowedObject<T>& followed) {
  const T* const object = followed.Find();
  return object == nullptr ? std::nullopt : std::optional(*object);
}

// Returns null if the file is missing.
Result<json::Value> ImagesIn(const FollowedObject<api::ConfigMap>& followed) {
  const api::ConfigMap* const map = followed.Find();
  if (map == nullptr) return json::Value();
  const auto file = map->data.find(kImagesFile);
  if (file == map->data.end()) return json::Value();
  return TRY(json::Parse(file->second), fmt::format("ConfigMap {}: {}", kReleaseImagesName, kImagesFile));
}

// Returns why the object with this name, or its whole kind, cannot be read, or "".
std::string WhyUnreadableIn(const OverlaidObjects& mirror, std::string_view name) {
  std::string why = mirror.is_ready() ? "" : mirror.refusal();
  mirror.VisitUnreadable([&](const kube::AnyObject& object, const Error& error) {
    if (object.metadata().name == name) why = error.message();
  });
  return why;
}

std::string Joined(std::initializer_list<std::string> all) {
  std::string reasons;
  for (const std::string& why : all) AddReason(why, reasons);
  return reasons;
}

// Returns the name of the ConfigMap that a field of the setting's spec names, or no name.
kube::ObjectName NamedBy(const WholeObject* setting, std::string_view field) {
  if (setting == nullptr) return {};
  return {.namespace_name = kConfigNamespace, .name = setting->spec.TextAt({field, "name"})};
}

}  // namespace

template <typename T>
OverlaidObjects::Listener OperatorSources::ListenerFor(const Listener& listener) const {
  return OverlaidObjects::ListenerFor(kube::kResourceKind<T>, listener.changed, listener.trouble, listener.unreadable);
}

OperatorSources::OperatorSources(kube::Client& client, const std::string& namespace_name, const Listener& listener)
    : client_(client),
      namespace_name_(namespace_name),
      listener_(listener),
      controller_configs_(client, Need::kAlways, ListenerFor<WholeControllerConfig>(listener)),
      infrastructures_(client, Need::kIfServed, ListenerFor<InfrastructureSetting>(listener)),
      networks_(client, Need::kIfServed, ListenerFor<NetworkSetting>(listener)),
      dnses_(client, Need::kIfServed, ListenerFor<DnsSetting>(listener)),
      proxies_(client, Need::kIfServed, ListenerFor<ProxySetting>(listener)),
      image_settings_(client, Need::kIfServed, ListenerFor<ImageSetting>(listener)),
      server_authority_(client, ListenerFor<api::ConfigMap>(listener)),
      root_authority_(client, ListenerFor<api::ConfigMap>(listener)),
      bootstrap_(client, ListenerFor<api::ConfigMap>(listener)),
      client_authority_(client, ListenerFor<api::ConfigMap>(listener)),
      initial_authority_(client, ListenerFor<api::ConfigMap>(listener)),
      kubelet_client_ca_(client, ListenerFor<api::ConfigMap>(listener)),
      user_authorities_(client, ListenerFor<api::ConfigMap>(listener)),
      proxy_authorities_(client, ListenerFor<api::ConfigMap>(listener)),
      registry_authorities_(client, ListenerFor<api::ConfigMap>(listener)),
      user_registry_authorities_(client, ListenerFor<api::ConfigMap>(listener)),
      cloud_config_(client, ListenerFor<api::ConfigMap>(listener)),
      os_images_(client, ListenerFor<api::ConfigMap>(listener)),
      release_images_(client, ListenerFor<api::ConfigMap>(listener)),
      api_authorities_(client, ListenerFor<api::ConfigMap>(listener)),
      kubeconfig_data_(client, ListenerFor<api::ConfigMap>(listener)),
      merged_registries_(client, ListenerFor<api::ConfigMap>(listener)),
      puller_(client, ListenerFor<ServiceAccount>(listener)),
      pull_secret_(client, ListenerFor<api::Secret>(listener)) {}

template <typename Visit>
void OperatorSources::ForEachKind(Visit&& look_at) const {
  look_at(controller_configs_);
  look_at(infrastructures_);
  look_at(networks_);
  look_at(dnses_);
  look_at(proxies_);
  look_at(image_settings_);
}

template <typename Visit>
void OperatorSources::ForEachConfigMap(Visit&& look_at) const {
  for (const Followed* map :
       {&server_authority_, &root_authority_, &bootstrap_, &client_authority_, &initial_authority_, &kubelet_client_ca_,
        &user_authorities_, &proxy_authorities_, &registry_authorities_, &user_registry_authorities_, &cloud_config_,
        &os_images_, &release_images_, &api_authorities_, &kubeconfig_data_, &merged_registries_}) {
    look_at(*map);
  }
}

void OperatorSources::Follow() {
  const bool is_known = infrastructures_.is_served() || !infrastructures_.refusal().empty();
  if (!is_known || infrastructures_.is_missing()) return;
  server_authority_.Follow({namespace_name_, kServerAuthorityName});
  root_authority_.Follow({kSystemNamespace, "root-ca"});
  bootstrap_.Follow({kSystemNamespace, "bootstrap"});
  client_authority_.Follow({kManagedNamespace, "kube-apiserver-client-ca"});
  initial_authority_.Follow({kConfigNamespace, "initial-kube-apiserver-server-ca"});
  kubelet_client_ca_.Follow({kApiServerNamespace, "kube-apiserver-to-kubelet-client-ca"});
  user_authorities_.Follow({kConfigNamespace, "user-ca-bundle"});
  proxy_authorities_.Follow(NamedBy(proxies_.Find(kSingletonName), "trustedCA"));
  registry_authorities_.Follow({kManagedNamespace, "image-registry-ca"});
  user_registry_authorities_.Follow(NamedBy(image_settings_.Find(kSingletonName), "additionalTrustedCA"));
  cloud_config_.Follow({kManagedNamespace, "kube-cloud-config"});
  os_images_.Follow({namespace_name_, "machine-config-osimageurl"});
  release_images_.Follow({namespace_name_, kReleaseImagesName});
  api_authorities_.Follow({kManagedNamespace, "kube-apiserver-server-ca"});
  kubeconfig_data_.Follow({namespace_name_, kKubeconfigDataName});
  merged_registries_.Follow({kManagedNamespace, kMergedRegistriesName});
  puller_.Follow({namespace_name_, clusterops::kPullingAccount});
  pull_secret_.Follow({kConfigNamespace, "pull-secret"});
  FollowSecretsOfPuller();
}

void OperatorSources::FollowSecretsOfPuller() {
  const ServiceAccount* const account = puller_.Find();
  if (account == nullptr) return secrets_of_puller_.clear();
  const auto& named = account->image_pull_secrets;
  std::erase_if(secrets_of_puller_, [&](const auto& followed) {
    return std::none_of(named.begin(), named.end(),
                        [&](const api::NameReference& secret) { return secret.name == followed.first; });
  });
  for (const api::NameReference& secret : named) {
    std::unique_ptr<FollowedSecret>& followed = secrets_of_puller_[secret.name];
    if (followed) continue;
    followed = std::make_unique<FollowedSecret>(client_, ListenerFor<api::Secret>(listener_),
                                                kube::ObjectName{namespace_name_, secret.name});
  }
}

bool OperatorSources::is_ready() const {
  bool are_ready = true;
  ForEachKind([&](const OverlaidObjects& mirror) {
    are_ready = are_ready && (mirror.is_ready() || !mirror.refusal().empty());
  });
  ForEachConfigMap([&](const Followed& map) { are_ready = are_ready && map.is_ready(); });
  for (const auto& [name, secret] : secrets_of_puller_) are_ready = are_ready && secret->is_ready();
  return are_ready && puller_.is_ready() && pull_secret_.is_ready();
}

std::string OperatorSources::WhyUnreadable() const {
  std::string reasons;
  ForEachKind([&](const OverlaidObjects& mirror) {
    if (!mirror.is_ready()) AddReason(mirror.refusal(), reasons);
    mirror.VisitUnreadable([&](const kube::AnyObject&, const Error& why) { AddReason(why.message(), reasons); });
  });
  ForEachConfigMap([&](const Followed& map) { AddReason(map.WhyUnreadable(), reasons); });
  return reasons;
}

std::string OperatorSources::WhyControllerConfigUnreadable() const {
  return WhyUnreadableIn(controller_configs_, api::kControllerConfigName);
}

std::string OperatorSources::WhyApiAuthoritiesUnreadable() const {
  return Joined({api_authorities_.WhyUnreadable(), kubeconfig_data_.WhyUnreadable()});
}

std::string OperatorSources::WhyMergedRegistriesUnreadable() const { return merged_registries_.WhyUnreadable(); }

std::string OperatorSources::WhyServerAuthoritiesUnreadable() const {
  return Joined({server_authority_.WhyUnreadable(), root_authority_.WhyUnreadable()});
}

std::string OperatorSources::VersionsText() const {
  std::string text = WhyUnreadable();
  ForEachKind([&](const OverlaidObjects& mirror) {
    text += "\n";
    mirror.VisitAll([&](const kube::AnyObject& object) {
      text += " " + object.metadata().uid + " " + object.metadata().resource_version;
    });
  });
  ForEachConfigMap([&](const Followed& map) { text += "\n" + map.name().name + map.VersionsText(); });
  text += "\n" + puller_.VersionsText() + "\n" + pull_secret_.VersionsText();
  for (const auto& [name, secret] : secrets_of_puller_) text += "\n" + name + secret->VersionsText();
  return text;
}

void OperatorSources::StoreAnswer(api::ConfigMap written) {
  for (Followed* map : {&server_authority_, &kubeconfig_data_, &merged_registries_}) {
    if (map->name().name == written.metadata.name) return map->StoreAnswer(std::move(written));
  }
}

void OperatorSources::Write(kube::Client& client, OperatorWrites& writes, std::string_view task,
                            const std::string& what, const api::ConfigMap* known, const api::ConfigMap& next) {
  if (known == nullptr) {
    return writes.Start(
        what, client.Once({}).Create<api::ConfigMap>(next, [&writes, task, what](const Result<api::ConfigMap>& made) {
          writes.CreationEnded(task, what, made);
        }));
  }
  ReplacingPatch patch(known->metadata);
  patch.Set("/data", json::Encode(next.data));
  patch.Set("/binaryData", json::Encode(next.binary_data));
  patch.SetAnnotations(next.metadata.annotations);
  writes.Start(what, client.Once({}).Patch<api::ConfigMap>(
                         kube::NameOf(next.metadata), kube::JsonPatch{std::move(patch).operations()},
                         [this, &writes, task, what, before = *known](Result<api::ConfigMap>&& written) {
                           const PatchEffect effect = PatchEffectOf(before, written);
                           if (written) StoreAnswer(*std::move(written));
                           writes.Ended(task, what, written ? nullptr : &written.error(), effect);
                         }));
}

std::string OperatorSources::ReleaseOfImages() const {
  const auto images = ImagesIn(release_images_);
  return images ? images->TextAt({"releaseVersion"}) : "";
}

clusterops::RegistryCredentialInputs OperatorSources::CredentialInputs() const {
  clusterops::RegistryCredentialInputs inputs;
  AddReason(puller_.WhyUnreadable(), inputs.why_unreadable);
  AddReason(pull_secret_.WhyUnreadable(), inputs.why_unreadable);
  for (const auto& [name, secret] : secrets_of_puller_) AddReason(secret->WhyUnreadable(), inputs.why_unreadable);
  inputs.pull_secret = ObjectFollowedBy(pull_secret_);
  const ServiceAccount* const account = puller_.Find();
  inputs.has_account = account != nullptr;
  if (account == nullptr) return inputs;
  for (const api::NameReference& named : account->image_pull_secrets) {
    clusterops::NamedSecret& secret = inputs.account_secrets.emplace_back();
    secret.name = named.name;
    const auto followed = secrets_of_puller_.find(named.name);
    if (followed != secrets_of_puller_.end()) secret.secret = ObjectFollowedBy(*followed->second);
  }
  return inputs;
}

void OperatorSources::NoteUnreadable(clusterops::ControllerConfigInputs& inputs) const {
  using clusterops::ConfigInput;
  const auto note = [&](ConfigInput input, std::string why) {
    if (!why.empty()) inputs.unreadable.emplace(input, std::move(why));
  };
  note(ConfigInput::kInfrastructure, WhyUnreadableIn(infrastructures_, kSingletonName));
  note(ConfigInput::kNetwork, WhyUnreadableIn(networks_, kSingletonName));
  note(ConfigInput::kDns, WhyUnreadableIn(dnses_, kSingletonName));
  note(ConfigInput::kProxy, WhyUnreadableIn(proxies_, kSingletonName));
  note(ConfigInput::kImageSetting, WhyUnreadableIn(image_settings_, kSingletonName));
  note(ConfigInput::kServerAuthority, server_authority_.WhyUnreadable());
  note(ConfigInput::kRootAuthority, root_authority_.WhyUnreadable());
  note(ConfigInput::kBootstrap, bootstrap_.WhyUnreadable());
  note(ConfigInput::kClientAuthority, client_authority_.WhyUnreadable());
  note(ConfigInput::kInitialAuthority, initial_authority_.WhyUnreadable());
  note(ConfigInput::kKubeletClientCa, kubelet_client_ca_.WhyUnreadable());
  note(ConfigInput::kUserAuthorities, user_authorities_.WhyUnreadable());
  note(ConfigInput::kProxyAuthorities, proxy_authorities_.WhyUnreadable());
  note(ConfigInput::kRegistryAuthorities, registry_authorities_.WhyUnreadable());
  note(ConfigInput::kUserRegistryAuthorities, user_registry_authorities_.WhyUnreadable());
  note(ConfigInput::kCloudConfig, cloud_config_.WhyUnreadable());
  note(ConfigInput::kOsImages, os_images_.WhyUnreadable());
  note(ConfigInput::kReleaseImages, release_images_.WhyUnreadable());
  if (const auto images = ImagesIn(release_images_); !images) {
    note(ConfigInput::kReleaseImages, images.error().message());
  }
}

clusterops::ControllerConfigInputs OperatorSources::Inputs() const {
  clusterops::ControllerConfigInputs inputs;
  NoteUnreadable(inputs);
  inputs.infrastructure = SettingIn(infrastructures_);
  inputs.network = SettingIn(networks_);
  inputs.dns = SettingIn(dnses_);
  inputs.proxy = SettingIn(proxies_);
  inputs.image_setting = SettingIn(image_settings_);
  inputs.server_authority = ObjectFollowedBy(server_authority_);
  inputs.root_authority = ObjectFollowedBy(root_authority_);
  inputs.client_authority = ObjectFollowedBy(client_authority_);
  inputs.initial_authority = ObjectFollowedBy(initial_authority_);
  inputs.kubelet_client_ca = ObjectFollowedBy(kubelet_client_ca_);
  inputs.user_authorities = ObjectFollowedBy(user_authorities_);
  inputs.proxy_authorities = ObjectFollowedBy(proxy_authorities_);
  inputs.registry_authorities = ObjectFollowedBy(registry_authorities_);
  inputs.user_registry_authorities = ObjectFollowedBy(user_registry_authorities_);
  inputs.cloud_config = ObjectFollowedBy(cloud_config_);
  inputs.os_images = ObjectFollowedBy(os_images_);
  // NoteUnreadable() has added the error.
  if (auto images = ImagesIn(release_images_)) inputs.release_images = *std::move(images);
  inputs.registry_credentials = CredentialInputs();
  inputs.is_bootstrapped = bootstrap_.Find() != nullptr;
  return inputs;
}

}  // namespace pintle::controller
