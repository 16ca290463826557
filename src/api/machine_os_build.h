// SPDX-License-Identifier: Apache-2.0
#pragma once

// A MachineOSBuild: one build of the image that a MachineOSConfig asks for, from one rendered config.

#include <optional>
#include <string>
#include <vector>

#include "api/lenient.h"
#include "api/meta.h"
#include "json/field_list.h"

namespace pintle::api {

struct MachineOSBuildSpec {
  NameReference machine_config;
  NameReference machine_os_config;
  std::string rendered_image_push_spec;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"machineConfig", &MachineOSBuildSpec::machine_config},
      json::Required{"machineOSConfig", &MachineOSBuildSpec::machine_os_config},
      json::Required{"renderedImagePushSpec", &MachineOSBuildSpec::rendered_image_push_spec},
  };
};

struct MachineOSBuildStatus {
  std::vector<Condition> conditions;
  std::optional<Time> build_start;
  std::optional<Time> build_end;
  std::string digested_image_push_spec;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Field{"conditions", &MachineOSBuildStatus::conditions},
      json::Field{"buildStart", &MachineOSBuildStatus::build_start},
      json::Field{"buildEnd", &MachineOSBuildStatus::build_end},
      json::Field{"digestedImagePushSpec", &MachineOSBuildStatus::digested_image_push_spec},
  };
};

struct MachineOSBuild {
  std::string api_version{kMachineConfigApiVersion};
  std::string kind = "MachineOSBuild";
  ObjectMeta metadata;
  MachineOSBuildSpec spec;
  MachineOSBuildStatus status;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"apiVersion", &MachineOSBuild::api_version}, json::Required{"kind", &MachineOSBuild::kind},
      json::Required{"metadata", &MachineOSBuild::metadata},      json::Required{"spec", &MachineOSBuild::spec},
      json::Required{"status", &MachineOSBuild::status},
  };
};

}  // namespace pintle::api
