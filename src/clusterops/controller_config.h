// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes the spec of the ControllerConfig from the objects that describe an OpenShift cluster.
//
// Each field is made separately.  If an input is missing or wrong, this is reported as a problem, and only the fields
// that need the input are left out.  MergedControllerConfig() keeps the present values of these fields.  An input with
// a value of a wrong type, such as a number in place of a text, is wrong as a whole (cluster_settings.h).

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/config_map.h"
#include "api/os_image_stream.h"
#include "clusterops/registry_credentials.h"
#include "json/value.h"

namespace pintle::clusterops {

// The objects that can be unreadable although the others can be read.
enum class ConfigInput {
  kInfrastructure,
  kNetwork,
  kDns,
  kProxy,
  kImageSetting,
  kServerAuthority,
  kRootAuthority,
  kBootstrap,
  kClientAuthority,
  kInitialAuthority,
  kKubeletClientCa,
  kUserAuthorities,
  kProxyAuthorities,
  kRegistryAuthorities,
  kUserRegistryAuthorities,
  kCloudConfig,
  kOsImages,
  kReleaseImages,
  kOsImageStream,
};

struct ControllerConfigInputs {
  // The reasons why objects cannot be read.  The fields that need such an object are left out, whatever the members
  // below have in its place.
  std::map<ConfigInput, std::string> unreadable = {};

  // The objects named `cluster` of these kinds, as the API server stores them; null if there is none.
  json::Value infrastructure = {};
  json::Value network = {};
  json::Value dns = {};
  json::Value proxy = {};
  json::Value image_setting = {};  // The Image.  It names the ConfigMap with the authorities of the user's registries.

  // ConfigMaps; nullopt if there is no such ConfigMap.  Each comment has the namespace and the name, and after a colon
  // the keys that are read.  `~` is the operator's namespace.

  // ~/machine-config-server-ca: ca-bundle.crt
  std::optional<api::ConfigMap> server_authority = {};
  // kube-system/root-ca: ca.crt
  std::optional<api::ConfigMap> root_authority = {};
  // openshift-config-managed/kube-apiserver-client-ca: ca-bundle.crt
  std::optional<api::ConfigMap> client_authority = {};
  // openshift-config/initial-kube-apiserver-server-ca: ca-bundle.crt
  std::optional<api::ConfigMap> initial_authority = {};
  // openshift-kube-apiserver-operator/kube-apiserver-to-kubelet-client-ca: ca-bundle.crt
  std::optional<api::ConfigMap> kubelet_client_ca = {};
  // openshift-config/user-ca-bundle: ca-bundle.crt
  std::optional<api::ConfigMap> user_authorities = {};
  // openshift-config/(the name in spec.trustedCA of the Proxy): ca-bundle.crt
  std::optional<api::ConfigMap> proxy_authorities = {};
  // openshift-config-managed/image-registry-ca: all keys
  std::optional<api::ConfigMap> registry_authorities = {};
  // openshift-config/(the name in spec.additionalTrustedCA of the Image): all keys
  std::optional<api::ConfigMap> user_registry_authorities = {};
  // openshift-config-managed/kube-cloud-config: cloud.conf, ca-bundle.pem
  std::optional<api::ConfigMap> cloud_config = {};
  // ~/machine-config-osimageurl: releaseVersion, baseOSContainerImage, baseOSExtensionsContainerImage
  std::optional<api::ConfigMap> os_images = {};

  json::Value release_images = {};  // images.json in ~/machine-config-operator-images; null if it cannot be read.
  bool has_os_streams = false;      // Whether the feature OSStreams is on; then the OS images are those of the stream.
  std::optional<api::OSImageStream> os_image_stream = {};

  RegistryCredentialInputs registry_credentials = {};

  // The spec of the ControllerConfig that is there; nullptr if there is none.
  const json::Value* present = nullptr;
  std::string present_release = {};         // The release of the images in `present`; empty if unknown.
  std::string present_stream_version = {};  // The version of the OSImageStream of that release; empty if unknown.

  bool is_bootstrapped = true;        // True if the ConfigMap kube-system/bootstrap exists.
  bool is_installing = false;         // True until a version of the operator has been installed completely.
  std::string operator_version = {};  // Empty to take the release of images.json.
};

struct ControllerConfigDraft {
  json::Value spec = json::Value::object();  // The fields that could be made.
  std::string release = {};                  // The release of the images in the spec; empty if these are left out.
  std::string stream_version = {};           // The version of the OSImageStream that the OS images come from, or "".
  std::vector<std::string> problems = {};    // One sentence for each missing or wrong input that made us omit a field.
  std::vector<std::string> warnings = {};    // One sentence for each missing input that the cluster can do without.
};

// Returns the fields that can be made from the inputs, and the problems of the other fields.
ControllerConfigDraft DraftControllerConfig(const ControllerConfigInputs& inputs);

// Returns the spec that the ControllerConfig is to have; `present` is null if there is none yet.  If the draft has an
// empty text or lacks an image, the present value is kept.  Only the proxy, the network's migration and the registries'
// bundles can be cleared.  An object that is embedded in the spec is not replaced if only its resourceVersion or its
// managedFields differ.
json::Value MergedControllerConfig(json::Value present, const json::Value& draft);

}  // namespace pintle::clusterops
