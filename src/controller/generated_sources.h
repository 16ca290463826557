// SPDX-License-Identifier: Apache-2.0
#pragma once

// A current copy of the objects that MachineConfigs are generated from.
//
// A cluster may lack most of these kinds: only OpenShift has them all.

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "controller/followed_object.h"
#include "controller/overlaid_mirror.h"
#include "controller/sources_view.h"
#include "controller/versioned_mirror.h"
#include "kube/client.h"

namespace pintle::controller {

// A kind that the cluster does not have, and the part of the controller that therefore has nothing to do.
struct MissingKind {
  std::string name;  // "featuregates.config.openshift.io"
  std::string_view part;
};

class GeneratedSources {
 public:
  struct Listener {
    std::function<void()> changed;
    std::function<void(std::string_view kind, const Error& error)> trouble;  // The kind is in the plural: "images".
    UnreadableListener unreadable = {};  // Without it, `trouble` is called for objects that cannot be read.
  };

  GeneratedSources(kube::Client& client, const Listener& listener);
  GeneratedSources(const GeneratedSources&) = delete;
  GeneratedSources& operator=(const GeneratedSources&) = delete;

  // Follows the Secret that the ControllerConfig names, and the Secret of the cluster's own registry if there is one.
  // Must be called before is_ready().
  void FollowSecrets();

  // Returns whether all objects have been read.  Until then, no config may be generated.
  bool is_ready() const;

  // Returns which kinds the API server refuses to list, and why; empty if there is none.
  std::string WhyNotReady() const;

  // Returns whether this copy has the ControllerConfig `config`, with the same spec.  `config` comes from another
  // mirror, which may receive a change earlier or later.  nullptr stands for a missing ControllerConfig.
  bool HasRead(const api::ControllerConfig* config) const;

  SourcesView Look() const;
  // Returns the kinds that the API server does not have.
  std::vector<MissingKind> Missing() const;
  // Returns nullptr if there is no such Node of config.openshift.io.
  const api::NodeSettings* NodeSettingsNamed(const std::string& name) const { return node_settings_.Find(name); }
  // Returns whether the cluster serves CRIOCredentialProviderConfigs in the older version only.
  bool has_old_credential_providers() const { return credential_providers_.uses_old(); }
  // Returns a text that changes whenever an object has other contents, or another version if writes need its version.
  std::string VersionsText() const;

  // Stores the API server's answers to writes.
  void StoreAnswer(WholeControllerConfig object) { whole_controller_configs_.StoreAnswer(std::move(object)); }
  void StoreAnswer(api::KubeletConfig object) { kubelet_configs_.StoreAnswer(std::move(object)); }
  void StoreAnswer(api::ContainerRuntimeConfig object) { runtime_configs_.StoreAnswer(std::move(object)); }
  void StoreAnswer(api::CredentialProviderConfig object) { credential_providers_.StoreAnswer(std::move(object)); }
  void StoreAnswer(OldCredentialProviderConfig object);
  // Does nothing: answers are kept by name alone, and ImagePolicies of two namespaces may have the same name.
  void StoreAnswer(const api::ImagePolicy&) {}

 private:
  template <typename T>
  OverlaidObjects::Listener ListenerFor(const Listener& listener);
  template <typename Visit>
  void ForEachKind(Visit&& visit) const;

  std::size_t content_changes_ = 0;  // Counts the changes of contents.
  OverlaidMirror<WholeControllerConfig> whole_controller_configs_;
  VersionedMirror<InternalReleaseImage, OldInternalReleaseImage> internal_release_images_;
  FollowedObject<PullSecret> pull_secret_;
  FollowedObject<PullSecret> registry_secret_;
  OverlaidMirror<api::KubeletConfig> kubelet_configs_;
  OverlaidMirror<api::ContainerRuntimeConfig> runtime_configs_;
  OverlaidMirror<api::FeatureGate> feature_gates_;
  OverlaidMirror<api::NodeSettings> node_settings_;
  OverlaidMirror<api::ApiServer> api_servers_;
  OverlaidMirror<api::Image> images_;
  OverlaidMirror<ClusterVersion> cluster_versions_;
  OverlaidMirror<ContentSourcePolicy> content_source_policies_;
  OverlaidMirror<DigestMirrorSet> digest_sets_;
  OverlaidMirror<TagMirrorSet> tag_sets_;
  OverlaidMirror<ClusterImagePolicy> cluster_policies_;
  OverlaidMirror<api::ImagePolicy> namespace_policies_;
  VersionedMirror<api::CredentialProviderConfig, OldCredentialProviderConfig> credential_providers_;
};

}  // namespace pintle::controller
