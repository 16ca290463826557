// SPDX-License-Identifier: Apache-2.0
#pragma once

// A ContainerRuntimeConfig: settings of CRI-O and of the store of its images, for the pools that it selects.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/label_selector.h"
#include "api/lenient.h"
#include "api/meta.h"
#include "api/quantity.h"
#include "json/field_list.h"

namespace pintle::api {

// A directory of layers, images or artifacts that CRI-O reads but does not fill.
struct AdditionalStore {
  std::string path;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{json::Required{"path", &AdditionalStore::path}};
};

struct ContainerRuntimeConfiguration {
  std::optional<std::int64_t> pids_limit;
  std::string log_level;
  std::optional<Quantity> log_size_max;
  std::optional<Quantity> overlay_size;  // The limit of what a container may write to its own layer.
  std::string default_runtime;           // "crun" or "runc".
  std::vector<AdditionalStore> additional_layer_stores;
  std::vector<AdditionalStore> additional_image_stores;
  std::vector<AdditionalStore> additional_artifact_stores;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Field{"pidsLimit", &ContainerRuntimeConfiguration::pids_limit},
      json::Field{"logLevel", &ContainerRuntimeConfiguration::log_level},
      json::Field{"logSizeMax", &ContainerRuntimeConfiguration::log_size_max},
      json::Field{"overlaySize", &ContainerRuntimeConfiguration::overlay_size},
      json::Field{"defaultRuntime", &ContainerRuntimeConfiguration::default_runtime},
      json::Field{"additionalLayerStores", &ContainerRuntimeConfiguration::additional_layer_stores},
      json::Field{"additionalImageStores", &ContainerRuntimeConfiguration::additional_image_stores},
      json::Field{"additionalArtifactStores", &ContainerRuntimeConfiguration::additional_artifact_stores},
  };
};

struct ContainerRuntimeConfigSpec {
  std::optional<LabelSelector> machine_config_pool_selector;
  std::optional<ContainerRuntimeConfiguration> container_runtime_config;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Field{"machineConfigPoolSelector", &ContainerRuntimeConfigSpec::machine_config_pool_selector},
      json::Field{"containerRuntimeConfig", &ContainerRuntimeConfigSpec::container_runtime_config},
  };
};

struct ContainerRuntimeConfigStatus {
  std::int64_t observed_generation = 0;
  // Of type "Success" or "Failure"; the status of both is "True".
  std::vector<BriefCondition> conditions;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Field{"observedGeneration", &ContainerRuntimeConfigStatus::observed_generation},
      json::Required{"conditions", &ContainerRuntimeConfigStatus::conditions},
  };
};

struct ContainerRuntimeConfig {
  static constexpr std::string_view kKind = "ContainerRuntimeConfig";

  ObjectMeta metadata;
  ContainerRuntimeConfigSpec spec;
  ContainerRuntimeConfigStatus status;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"metadata", &ContainerRuntimeConfig::metadata},
      json::Required{"spec", &ContainerRuntimeConfig::spec},
      json::Field{"status", &ContainerRuntimeConfig::status},
  };
};

}  // namespace pintle::api
