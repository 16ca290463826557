// SPDX-License-Identifier: Apache-2.0
#pragma once

// The objects that MachineConfigs are generated from, and the API paths of their kinds.

#include <string>

#include "api/container_runtime_config.h"
#include "api/credential_provider_config.h"
#include "api/feature_gate.h"
#include "api/image_config.h"
#include "api/image_policy.h"
#include "api/kubelet_config.h"
#include "api/node_settings.h"
#include "api/secret.h"
#include "api/tls_security_profile.h"
#include "kube/resource_kind.h"

namespace pintle::controller {

// The name of each object of which a cluster has only one, except for the ClusterVersion.
inline constexpr const char* kSingletonName = "cluster";
inline constexpr const char* kClusterVersionName = "version";

// A ControllerConfig with its whole spec, which templates read.
struct WholeControllerConfig {
  api::ObjectMeta metadata;
  json::Value spec;
  json::Value status;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"metadata", &WholeControllerConfig::metadata},
      json::Field{"spec", &WholeControllerConfig::spec},
      json::Field{"status", &WholeControllerConfig::status},
  };
};

// The Secret with the cluster's credentials for registries, or the Secret with those for the cluster's own registry.
using PullSecret = api::Secret;

// Exists if the control plane runs a registry with the release's images.
struct InternalReleaseImage {
  api::ObjectMeta metadata;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{json::Required{"metadata", &InternalReleaseImage::metadata}};
};

// OpenShift's object for the release that the cluster runs or is updated to.
struct ClusterVersion {
  struct Release {
    std::string version;
    std::string image;
    static constexpr bool kLenient = true;
    static constexpr auto kFields =
        json::FieldList{json::Field{"version", &Release::version}, json::Field{"image", &Release::image}};
  };
  struct Status {
    Release desired;
    static constexpr bool kLenient = true;
    static constexpr auto kFields = json::FieldList{json::Field{"desired", &Status::desired}};
  };

  api::ObjectMeta metadata;
  Status status;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"metadata", &ClusterVersion::metadata},
      json::Field{"status", &ClusterVersion::status},
  };
};

// Each of these kinds needs a type of its own, although some have the same fields, because the type selects the API
// path.
struct ContentSourcePolicy : api::MirrorSet {};
struct DigestMirrorSet : api::MirrorSet {};
struct TagMirrorSet : api::MirrorSet {};
struct ClusterImagePolicy : api::ImagePolicy {};

// These are two of the kinds above, in the versions that older releases serve.
struct OldInternalReleaseImage : InternalReleaseImage {};
struct OldCredentialProviderConfig : api::CredentialProviderConfig {};

}  // namespace pintle::controller

namespace pintle::kube {

inline constexpr std::string_view kConfigGroup = "config.openshift.io";

template <>
inline constexpr ResourceKind kResourceKind<controller::WholeControllerConfig> = kResourceKind<api::ControllerConfig>;
template <>
inline constexpr ResourceKind kResourceKind<controller::PullSecret> = {"", "v1", "secrets", "Secret",
                                                                       Scope::kNamespaced};
template <>
inline constexpr ResourceKind kResourceKind<controller::InternalReleaseImage> = {
    kMachineConfigGroup, "v1", "internalreleaseimages", "InternalReleaseImage"};
template <>
inline constexpr ResourceKind kResourceKind<controller::OldInternalReleaseImage> = {
    kMachineConfigGroup, "v1alpha1", "internalreleaseimages", "InternalReleaseImage"};
template <>
inline constexpr ResourceKind kResourceKind<api::KubeletConfig> = {kMachineConfigGroup, "v1", "kubeletconfigs",
                                                                   "KubeletConfig"};
template <>
inline constexpr ResourceKind kResourceKind<api::ContainerRuntimeConfig> = {
    kMachineConfigGroup, "v1", "containerruntimeconfigs", "ContainerRuntimeConfig"};
template <>
inline constexpr ResourceKind kResourceKind<api::FeatureGate> = {kConfigGroup, "v1", "featuregates", "FeatureGate"};
template <>
inline constexpr ResourceKind kResourceKind<api::NodeSettings> = {kConfigGroup, "v1", "nodes", "Node"};
template <>
inline constexpr ResourceKind kResourceKind<api::ApiServer> = {kConfigGroup, "v1", "apiservers", "APIServer"};
template <>
inline constexpr ResourceKind kResourceKind<api::Image> = {kConfigGroup, "v1", "images", "Image"};
template <>
inline constexpr ResourceKind kResourceKind<controller::ClusterVersion> = {kConfigGroup, "v1", "clusterversions",
                                                                           "ClusterVersion"};
template <>
inline constexpr ResourceKind kResourceKind<controller::ContentSourcePolicy> = {
    "operator.openshift.io", "v1alpha1", "imagecontentsourcepolicies", "ImageContentSourcePolicy"};
template <>
inline constexpr ResourceKind kResourceKind<controller::DigestMirrorSet> = {kConfigGroup, "v1", "imagedigestmirrorsets",
                                                                            "ImageDigestMirrorSet"};
template <>
inline constexpr ResourceKind kResourceKind<controller::TagMirrorSet> = {kConfigGroup, "v1", "imagetagmirrorsets",
                                                                         "ImageTagMirrorSet"};
template <>
inline constexpr ResourceKind kResourceKind<controller::ClusterImagePolicy> = {
    kConfigGroup, "v1", "clusterimagepolicies", "ClusterImagePolicy"};
template <>
inline constexpr ResourceKind kResourceKind<api::ImagePolicy> = {kConfigGroup, "v1", "imagepolicies", "ImagePolicy",
                                                                 Scope::kNamespaced};
template <>
inline constexpr ResourceKind kResourceKind<api::CredentialProviderConfig> = {
    kConfigGroup, "v1", "criocredentialproviderconfigs", "CRIOCredentialProviderConfig"};
template <>
inline constexpr ResourceKind kResourceKind<controller::OldCredentialProviderConfig> = {
    kConfigGroup, "v1alpha1", "criocredentialproviderconfigs", "CRIOCredentialProviderConfig"};

}  // namespace pintle::kube

// Compiled in controller/codecs.cc.
namespace pintle::json {

extern template struct Coding<controller::WholeControllerConfig>;
extern template struct Coding<api::Secret>;
extern template struct Coding<controller::InternalReleaseImage>;
extern template struct Coding<api::KubeletConfig>;
extern template struct Coding<api::ContainerRuntimeConfig>;
extern template struct Coding<api::FeatureGate>;
extern template struct Coding<api::NodeSettings>;
extern template struct Coding<api::ApiServer>;
extern template struct Coding<api::Image>;
extern template struct Coding<controller::ClusterVersion>;
extern template struct Coding<controller::ContentSourcePolicy>;
extern template struct Coding<controller::DigestMirrorSet>;
extern template struct Coding<controller::TagMirrorSet>;
extern template struct Coding<controller::ClusterImagePolicy>;
extern template struct Coding<api::ImagePolicy>;
extern template struct Coding<api::CredentialProviderConfig>;

}  // namespace pintle::json
