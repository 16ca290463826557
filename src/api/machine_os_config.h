// SPDX-License-Identifier: Apache-2.0
#pragma once

// A MachineOSConfig: it requests that the cluster builds an OS image for a pool's nodes, and its status has the latest
// image.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/lenient.h"
#include "api/meta.h"
#include "json/field_list.h"

namespace pintle::api {

struct MachineOSConfigSpec {
  NameReference machine_config_pool;
  std::string rendered_image_push_spec;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"machineConfigPool", &MachineOSConfigSpec::machine_config_pool},
      json::Required{"renderedImagePushSpec", &MachineOSConfigSpec::rendered_image_push_spec},
  };
};

struct MachineOSConfigStatus {
  std::vector<Condition> conditions;
  std::int64_t observed_generation = 0;
  std::string current_image_pull_spec;
  std::optional<ObjectReference> machine_os_build;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Field{"conditions", &MachineOSConfigStatus::conditions},
      json::Field{"observedGeneration", &MachineOSConfigStatus::observed_generation},
      json::Field{"currentImagePullSpec", &MachineOSConfigStatus::current_image_pull_spec},
      json::Field{"machineOSBuild", &MachineOSConfigStatus::machine_os_build},
  };
};

struct MachineOSConfig {
  std::string api_version{kMachineConfigApiVersion};
  std::string kind = "MachineOSConfig";
  ObjectMeta metadata;
  MachineOSConfigSpec spec;
  MachineOSConfigStatus status;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"apiVersion", &MachineOSConfig::api_version}, json::Required{"kind", &MachineOSConfig::kind},
      json::Required{"metadata", &MachineOSConfig::metadata},      json::Required{"spec", &MachineOSConfig::spec},
      json::Required{"status", &MachineOSConfig::status},
  };
};

}  // namespace pintle::api
