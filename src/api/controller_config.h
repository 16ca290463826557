// SPDX-License-Identifier: Apache-2.0
#pragma once

// A ControllerConfig: the settings of the whole cluster that go into every rendered config and every pool's status.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/lenient.h"
#include "api/meta.h"
#include "json/field_list.h"

namespace pintle::api {

// A cluster has one ControllerConfig, which has this name.
inline constexpr const char* kControllerConfigName = "machine-config-controller";

// The version of the operator that created this object, or "pintle-" and our version.  Later writers of the object do
// not change the version, because configs are rendered only from an object of the expected version.
inline constexpr std::string_view kGeneratedByVersionAnnotation =
    "machineconfiguration.openshift.io/generated-by-version";
// Two words: the release of the OS images, and the version that the OSImageStream with these images has in its
// annotations.  For example "4.21.0 8d3f".
inline constexpr std::string_view kOsImageStreamAnnotation = "pintle.io/os-image-stream";

struct PlatformStatus {
  std::string type;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{json::Field{"type", &PlatformStatus::type}};
};

// A copy of the status of the cluster's Infrastructure.
struct InfrastructureStatus {
  std::string control_plane_topology;
  std::string api_server_internal_url;  // The URL that machines of the cluster use.
  PlatformStatus platform_status;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Field{"controlPlaneTopology", &InfrastructureStatus::control_plane_topology},
      json::Field{"apiServerInternalURI", &InfrastructureStatus::api_server_internal_url},
      json::Field{"platformStatus", &InfrastructureStatus::platform_status},
  };
};

struct Infrastructure {
  InfrastructureStatus status;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{json::Field{"status", &Infrastructure::status}};
};

struct ControllerConfigSpec {
  std::string base_os_container_image;
  std::string base_os_extensions_container_image;
  // These two are bundles of certificates, in base64.
  std::string kube_apiserver_serving_ca;
  std::string cloud_provider_ca;
  Infrastructure infra;
  std::map<std::string, std::string> images;  // The images of the release; a key is the purpose of an image.

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"baseOSContainerImage", &ControllerConfigSpec::base_os_container_image},
      json::Field{"baseOSExtensionsContainerImage", &ControllerConfigSpec::base_os_extensions_container_image},
      json::Field{"kubeAPIServerServingCAData", &ControllerConfigSpec::kube_apiserver_serving_ca},
      json::Field{"cloudProviderCAData", &ControllerConfigSpec::cloud_provider_ca},
      json::Field{"infra", &ControllerConfigSpec::infra},
      json::Field{"images", &ControllerConfigSpec::images},
  };
};

// A certificate in one of the bundles that nodes get.
struct ControllerCertificate {
  std::string subject;
  std::string bundle_file;  // The name of the bundle, such as KubeAPIServerServingCAData; not always a file.
  std::optional<Time> not_after;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"subject", &ControllerCertificate::subject},
      json::Required{"bundleFile", &ControllerCertificate::bundle_file},
      json::Field{"notAfter", &ControllerCertificate::not_after},
  };
};

struct ControllerConfigStatus {
  std::int64_t observed_generation = 0;
  std::vector<Condition> conditions;  // The progress of making configs from the templates.
  std::vector<ControllerCertificate> controller_certificates;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Field{"observedGeneration", &ControllerConfigStatus::observed_generation},
      json::Field{"conditions", &ControllerConfigStatus::conditions},
      json::Field{"controllerCertificates", &ControllerConfigStatus::controller_certificates},
  };
};

struct ControllerConfig {
  static constexpr std::string_view kKind = "ControllerConfig";

  ObjectMeta metadata;
  ControllerConfigSpec spec;
  ControllerConfigStatus status;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"metadata", &ControllerConfig::metadata},
      json::Required{"spec", &ControllerConfig::spec},
      json::Field{"status", &ControllerConfig::status},
  };
};

}  // namespace pintle::api
