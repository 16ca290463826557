// SPDX-License-Identifier: Apache-2.0
#pragma once

// A ControllerConfig: what the cluster as a whole brings into every rendered config.

#include <string>
#include <string_view>
#include <tuple>

#include "api/lenient.h"
#include "api/meta.h"
#include "json/fields.h"

namespace pintle::api {

// The version of the operator that wrote this object.
inline constexpr std::string_view kGeneratedByVersionAnnotation =
    "machineconfiguration.openshift.io/generated-by-version";

struct ControllerConfigSpec {
  std::string base_os_container_image;
  std::string base_os_extensions_container_image;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = std::tuple{
      json::Required{"baseOSContainerImage", &ControllerConfigSpec::base_os_container_image},
      json::Field{"baseOSExtensionsContainerImage", &ControllerConfigSpec::base_os_extensions_container_image},
  };
};

struct ControllerConfig {
  static constexpr std::string_view kKind = "ControllerConfig";

  ObjectMeta metadata;
  ControllerConfigSpec spec;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = std::tuple{
      json::Required{"metadata", &ControllerConfig::metadata},
      json::Required{"spec", &ControllerConfig::spec},
  };
};

}  // namespace pintle::api
