// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes the spec of the ControllerConfig from the objects that describe an OpenShift cluster.
//
// Each field is made separately.  If an input is missing or wrong, this is reported as a problem, and only the fields
// that need the input are left out.  MergedControllerConfig() keeps the present values of these fields.

#include <optional>
#include <string>
#include <vector>

#include "api/config_map.h"
#include "api/os_image_stream.h"
#include "clusterops/registry_credentials.h"
#include "json/value.h"

namespace pintle::clusterops {

struct ControllerConfigInputs {
  // The objects named `cluster` of these kinds, as the API server stores them; null if there is none.
  json::Value infrastructure = {};
  json::Value network = {};
  json::Value dns = {};
  json::Value proxy = {};
  json::Value image = {};  // Names the ConfigMap with the authorities of the user's registries.

  // ConfigMaps, some of them with the key that is read; nullopt if there is none.  Those without a namespace in the
  // comment are in the operator's own, except kube-apiserver-to-kubelet-client-ca: it is in
  // openshift-kube-apiserver-operator.
  std::optional<api::ConfigMap> server_authority = {};           // machine-config-server-ca: ca-bundle.crt
  std::optional<api::ConfigMap> root_authority = {};             // kube-system/root-ca: ca.crt
  std::optional<api::ConfigMap> client_authority = {};           // openshift-config-managed/kube-apiserver-client-ca
  std::optional<api::ConfigMap> initial_authority = {};          // openshift-config/initial-kube-apiserver-server-ca
  std::optional<api::ConfigMap> kubelet_client_ca = {};          // kube-apiserver-to-kubelet-client-ca: ca-bundle.crt
  std::optional<api::ConfigMap> user_authorities = {};           // openshift-config/user-ca-bundle
  std::optional<api::ConfigMap> proxy_authorities = {};          // The ConfigMap that spec.trustedCA of the Proxy names
  std::optional<api::ConfigMap> registry_authorities = {};       // openshift-config-managed/image-registry-ca
  std::optional<api::ConfigMap> user_registry_authorities = {};  // The ConfigMap that the cluster's Image config names
  std::optional<api::ConfigMap> cloud_config = {};               // openshift-config-managed/kube-cloud-config
  std::optional<api::ConfigMap> os_images = {};                  // machine-config-osimageurl
  json::Value images = {};      // images.json in machine-config-operator-images; null if it cannot be read.
  bool has_os_streams = false;  // Whether the feature OSStreams is on; then the OS images are those of the stream.
  std::optional<api::OSImageStream> os_image_stream = {};

  RegistryCredentialInputs registry_credentials = {};

  // The spec of the ControllerConfig that is there; nullptr if there is none.
  const json::Value* present = nullptr;
  // The release of that ControllerConfig, and the version of the OSImageStream of that release; empty if unknown.
  std::string present_release = {};
  std::string present_stream = {};

  bool is_bootstrapped = true;        // True if kube-system/bootstrap exists.
  bool is_installing = false;         // True until a version of the operator has been installed completely.
  std::string operator_version = {};  // Empty to take the release of images.json.
};

struct ControllerConfigDraft {
  json::Value spec = json::Value::object();  // The fields that could be made.
  std::string release = {};                  // The release of the images in the spec; empty if these are left out.
  std::string stream_version = {};           // The version of the OSImageStream that the OS images come from, or "".
  std::vector<std::string> problems = {};    // One sentence for each input because of which a field is left out.
  std::vector<std::string> warnings = {};    // One sentence for each missing input without which the cluster works.
};

ControllerConfigDraft DraftControllerConfig(const ControllerConfigInputs& inputs);

// Returns the spec that the ControllerConfig is to have; `present` is null if there is none yet.  A text that has
// become empty and an image that is no longer listed stay as they are; the proxy, the migration of the network and the
// bundles of registries can be cleared.  Copies of objects stay as they are if only their versions differ.
json::Value MergedControllerConfig(json::Value present, const json::Value& draft);

}  // namespace pintle::clusterops
