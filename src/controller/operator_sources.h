// SPDX-License-Identifier: Apache-2.0
#pragma once

// A current copy of the objects from which the controller, with --operator=yes, makes the ControllerConfig and the
// objects that belong to it.
//
// These objects are in several namespaces.  Most of them are followed by their names, so that the controller needs no
// right to read all ConfigMaps of a namespace that is not its own.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/config_map.h"
#include "api/os_image_stream.h"
#include "api/secret.h"
#include "clusterops/controller_config.h"
#include "clusterops/registry_credentials.h"
#include "controller/followed_object.h"
#include "controller/generated_kinds.h"
#include "controller/operator_kinds.h"
#include "controller/operator_writes.h"
#include "controller/overlaid_mirror.h"
#include "kube/client.h"

namespace pintle::controller {

// The namespace of the objects that OpenShift's operators make for each other.
inline constexpr const char* kManagedNamespace = "openshift-config-managed";
// The names of the ConfigMaps that the controller writes with --operator=yes.
inline constexpr const char* kServerAuthorityName = "machine-config-server-ca";
inline constexpr const char* kKubeconfigDataName = "kubeconfig-data";
inline constexpr const char* kMergedRegistriesName = "merged-trusted-image-registry-ca";

class OperatorSources {
 public:
  struct Listener {
    std::function<void()> changed;
    std::function<void(std::string_view kind, const Error& error)> trouble;  // The kind is in the plural: "networks".
    UnreadableListener unreadable = {};  // Without it, `trouble` is called for objects that cannot be read.
  };

  // `namespace_name` is the namespace of the operator.
  OperatorSources(kube::Client& client, const std::string& namespace_name, const Listener& listener);
  OperatorSources(const OperatorSources&) = delete;
  OperatorSources& operator=(const OperatorSources&) = delete;

  // Returns whether the cluster lacks the kinds of OpenShift that describe a cluster.
  bool is_missing() const { return infrastructures_.is_missing(); }

  // Follows the ConfigMaps and Secrets, some of which other objects name.  Must be called before is_ready().  If the
  // API server refuses to list the kind Infrastructure, the cluster is taken for OpenShift.
  void Follow();

  // Returns whether each object has been read, is known to be missing, or is known to be unreadable.
  bool is_ready() const;
  // Each of these functions returns why some objects cannot be read, or "".  Nothing may be made from an object that
  // cannot be read, because the functions below return no object, or an old version.
  std::string WhyUnreadable() const;  // All objects except for credentials.
  std::string WhyControllerConfigUnreadable() const;
  std::string WhyApiAuthoritiesUnreadable() const;     // The API server's authorities and their copy, kubeconfig-data.
  std::string WhyMergedRegistriesUnreadable() const;   // The copy of the registries' authorities.
  std::string WhyServerAuthoritiesUnreadable() const;  // The authorities that new machines trust.

  // The inputs contain the reasons why some of them cannot be read.
  clusterops::ControllerConfigInputs Inputs() const;
  // Returns the release in images.json, or "".
  std::string ReleaseOfImages() const;
  // Returns a text that changes whenever the version of an object changes.
  std::string VersionsText() const;

  // These return nullptr if there is no such ConfigMap.
  const api::ConfigMap* server_authority() const { return server_authority_.Find(); }
  const api::ConfigMap* root_authority() const { return root_authority_.Find(); }
  const api::ConfigMap* api_authorities() const { return api_authorities_.Find(); }
  const api::ConfigMap* kubeconfig_data() const { return kubeconfig_data_.Find(); }
  const api::ConfigMap* merged_registries() const { return merged_registries_.Find(); }

  // Returns the ControllerConfig with its whole spec, or nullptr.
  const WholeControllerConfig* controller_config() const {
    return controller_configs_.Find(api::kControllerConfigName);
  }
  // Stores the API server's answer to a write.
  void StoreAnswer(WholeControllerConfig written) { controller_configs_.StoreAnswer(std::move(written)); }
  // Writes one of these ConfigMaps; writes.MayStart() must have returned true for `what`.  `known` is nullptr if the
  // ConfigMap does not exist yet.
  void Write(kube::Client& client, OperatorWrites& writes, std::string_view task, const std::string& what,
             const api::ConfigMap* known, const api::ConfigMap& next);

 private:
  using Followed = FollowedObject<api::ConfigMap>;
  using FollowedSecret = FollowedObject<api::Secret>;

  // Follows the Secrets that the account `puller_` names.
  void FollowSecretsOfPuller();
  clusterops::RegistryCredentialInputs CredentialInputs() const;
  void NoteUnreadable(clusterops::ControllerConfigInputs& inputs) const;
  void StoreAnswer(api::ConfigMap written);
  template <typename T>
  OverlaidObjects::Listener ListenerFor(const Listener& listener) const;
  template <typename Visit>
  void ForEachKind(Visit&& look_at) const;
  template <typename Visit>
  void ForEachConfigMap(Visit&& look_at) const;

  kube::Client client_;
  const std::string namespace_name_;
  const Listener listener_;
  OverlaidMirror<WholeControllerConfig> controller_configs_;
  OverlaidMirror<InfrastructureSetting> infrastructures_;
  OverlaidMirror<NetworkSetting> networks_;
  OverlaidMirror<DnsSetting> dnses_;
  OverlaidMirror<ProxySetting> proxies_;
  OverlaidMirror<ImageSetting> image_settings_;
  Followed server_authority_;
  Followed root_authority_;
  Followed bootstrap_;
  Followed client_authority_;
  Followed initial_authority_;
  Followed kubelet_client_ca_;
  Followed user_authorities_;
  Followed proxy_authorities_;
  Followed registry_authorities_;
  Followed user_registry_authorities_;
  Followed cloud_config_;
  Followed os_images_;
  Followed release_images_;
  Followed api_authorities_;
  Followed kubeconfig_data_;
  Followed merged_registries_;
  FollowedObject<ServiceAccount> puller_;  // The account whose Secrets have credentials for the cluster's own registry.
  FollowedSecret pull_secret_;
  std::map<std::string, std::unique_ptr<FollowedSecret>> secrets_of_puller_;  // The key is the name of the Secret.
};

}  // namespace pintle::controller
