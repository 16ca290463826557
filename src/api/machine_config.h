// SPDX-License-Identifier: Apache-2.0
#pragma once

// A MachineConfig: the configuration of a machine, or a part of it.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/lenient.h"
#include "api/meta.h"
#include "json/field_list.h"

namespace pintle::api {

// Labels and annotations of a MachineConfig.
inline constexpr std::string_view kRoleLabel = "machineconfiguration.openshift.io/role";
inline constexpr std::string_view kGeneratedByControllerVersionAnnotation =
    "machineconfiguration.openshift.io/generated-by-controller-version";
inline constexpr std::string_view kReleaseImageVersionAnnotation =
    "machineconfiguration.openshift.io/release-image-version";
inline constexpr std::string_view kOsImageUrlOverriddenAnnotation =
    "machineconfiguration.openshift.io/os-image-url-overridden";
// The image that was built in the cluster (OCL, on-cluster layering) for a config, if there is one.
inline constexpr std::string_view kOclOsImageUrlAnnotation = "machineconfiguration.openshift.io/ocl-osimageurl";

struct MachineConfigSpec {
  std::string os_image_url;  // Empty to use the cluster's image.
  std::string base_os_extensions_container_image;
  json::Value config;  // The Ignition config as the object has it; null if there is none.
  // An absent list and an empty list lead to different names of the rendered config.
  std::optional<std::vector<std::string>> kernel_arguments;
  std::optional<std::vector<std::string>> extensions;
  bool fips = false;
  std::string kernel_type;  // "", "default", "realtime" or "64k-pages".

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"osImageURL", &MachineConfigSpec::os_image_url},
      json::Required{"baseOSExtensionsContainerImage", &MachineConfigSpec::base_os_extensions_container_image},
      json::Required{"config", &MachineConfigSpec::config},
      json::Required{"kernelArguments", &MachineConfigSpec::kernel_arguments},
      json::Required{"extensions", &MachineConfigSpec::extensions},
      json::Required{"fips", &MachineConfigSpec::fips},
      json::Required{"kernelType", &MachineConfigSpec::kernel_type},
  };
};

struct MachineConfig {
  static constexpr std::string_view kKind = "MachineConfig";

  std::string api_version;
  std::string kind;
  ObjectMeta metadata;
  MachineConfigSpec spec;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Field{"apiVersion", &MachineConfig::api_version},
      json::Field{"kind", &MachineConfig::kind},
      json::Required{"metadata", &MachineConfig::metadata},
      json::Required{"spec", &MachineConfig::spec},
  };
};

}  // namespace pintle::api
