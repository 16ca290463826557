// SPDX-License-Identifier: Apache-2.0
#pragma once

// The objects that MachineConfigs are generated from, at one moment.
//
// Objects are borrowed, except mirrors and image policies: the passes need the objects of each of these kinds as one
// list of values.

#include <string>
#include <vector>

#include "controller/generated_kinds.h"
#include "generated/mirrors.h"

namespace pintle::controller {

struct SourcesView {
  const WholeControllerConfig* whole_controller_config = nullptr;  // The ControllerConfig with its whole spec.
  const PullSecret* pull_secret = nullptr;
  bool has_own_registry = false;                // The control plane runs a registry with the release's images.
  const PullSecret* registry_secret = nullptr;  // The Secret of this registry.
  std::vector<const api::KubeletConfig*> kubelet_configs;
  std::vector<const api::ContainerRuntimeConfig*> runtime_configs;
  const api::FeatureGate* feature_gate = nullptr;
  const api::NodeSettings* node_settings = nullptr;
  std::vector<const api::NodeSettings*> other_node_settings;  // Settings with other names, which have no effect.
  const api::ApiServer* api_server = nullptr;
  const api::Image* image = nullptr;
  const ClusterVersion* cluster_version = nullptr;
  std::vector<api::MirrorSet> content_source_policies;
  std::vector<api::MirrorSet> digest_sets;
  std::vector<api::MirrorSet> tag_sets;
  std::vector<api::ImagePolicy> cluster_policies;
  std::vector<api::ImagePolicy> namespace_policies;
  const api::CredentialProviderConfig* credential_providers = nullptr;

  // The reasons why these Secrets cannot be read.  Empty for a Secret that can be read or does not exist.
  std::string why_pull_secret_is_unreadable;
  std::string why_registry_secret_is_unreadable;
  // Reasons why some objects of a group cannot be read.  As long as there is a reason, outdated configs of the group
  // are not removed.  With unreadable settings, no config is made.  Unreadable images and credential providers stop
  // only their own configs.  KubeletConfigs and ContainerRuntimeConfigs that can be read are still used, except objects
  // for which no number has been chosen yet: an unreadable object may have that number (managed_pass.h).
  std::string why_settings_are_unreadable;
  std::string why_kubelet_configs_are_unreadable;
  std::string why_runtime_configs_are_unreadable;
  std::string why_images_are_unreadable;
  std::string why_credential_providers_are_unreadable;

  generated::MirrorObjects Mirrors() const { return {content_source_policies, digest_sets, tag_sets}; }
};

}  // namespace pintle::controller
