// SPDX-License-Identifier: Apache-2.0
#pragma once

// A MachineConfigNode: the progress of one node towards its desired config, step by step.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/lenient.h"
#include "api/meta.h"
#include "json/field_list.h"

namespace pintle::api {

struct MachineConfigNodeConfigVersion {
  std::string current;
  std::string desired;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Field{"current", &MachineConfigNodeConfigVersion::current},
      json::Required{"desired", &MachineConfigNodeConfigVersion::desired},
  };
};

struct MachineConfigNodeConfigImage {
  std::string current_image;
  std::string desired_image;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Field{"currentImage", &MachineConfigNodeConfigImage::current_image},
      json::Field{"desiredImage", &MachineConfigNodeConfigImage::desired_image},
  };
};

struct MachineConfigNodeSpec {
  NameReference node;
  NameReference pool;
  MachineConfigNodeConfigVersion config_version;  // Only `desired` is used.
  MachineConfigNodeConfigImage config_image;      // Only `desired_image` is used.

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"node", &MachineConfigNodeSpec::node},
      json::Required{"pool", &MachineConfigNodeSpec::pool},
      json::Required{"configVersion", &MachineConfigNodeSpec::config_version},
      json::Field{"configImage", &MachineConfigNodeSpec::config_image},
  };
};

// The progress of a node in pulling the images of a PinnedImageSet.
struct MachineConfigNodePinnedImageSet {
  std::string name;
  std::int64_t current_generation = 0;
  std::int64_t desired_generation = 0;
  std::int64_t last_failed_generation = 0;
  std::string last_failed_generation_error;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"name", &MachineConfigNodePinnedImageSet::name},
      json::Field{"currentGeneration", &MachineConfigNodePinnedImageSet::current_generation},
      json::Field{"desiredGeneration", &MachineConfigNodePinnedImageSet::desired_generation},
      json::Field{"lastFailedGeneration", &MachineConfigNodePinnedImageSet::last_failed_generation},
      json::Field{"lastFailedGenerationError", &MachineConfigNodePinnedImageSet::last_failed_generation_error},
  };
};

// A difference between the node's config and the config that the node was installed with, in a part of the config that
// takes effect at installation only.
struct IrreconcilableChangeDiff {
  std::string field_path;
  std::string diff;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"fieldPath", &IrreconcilableChangeDiff::field_path},
      json::Required{"diff", &IrreconcilableChangeDiff::diff},
  };
};

struct MachineConfigNodeStatus {
  std::vector<Condition> conditions;
  std::int64_t observed_generation = 0;
  std::optional<MachineConfigNodeConfigVersion> config_version;
  std::optional<MachineConfigNodeConfigImage> config_image;
  std::vector<MachineConfigNodePinnedImageSet> pinned_image_sets;
  std::vector<IrreconcilableChangeDiff> irreconcilable_changes;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Field{"conditions", &MachineConfigNodeStatus::conditions},
      json::Field{"observedGeneration", &MachineConfigNodeStatus::observed_generation},
      json::Field{"configVersion", &MachineConfigNodeStatus::config_version},
      json::Field{"configImage", &MachineConfigNodeStatus::config_image},
      json::Field{"pinnedImageSets", &MachineConfigNodeStatus::pinned_image_sets},
      json::Field{"irreconcilableChanges", &MachineConfigNodeStatus::irreconcilable_changes},
  };
};

struct MachineConfigNode {
  std::string api_version{kMachineConfigApiVersion};
  std::string kind = "MachineConfigNode";
  ObjectMeta metadata;
  MachineConfigNodeSpec spec;
  MachineConfigNodeStatus status;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"apiVersion", &MachineConfigNode::api_version}, json::Required{"kind", &MachineConfigNode::kind},
      json::Required{"metadata", &MachineConfigNode::metadata},      json::Required{"spec", &MachineConfigNode::spec},
      json::Required{"status", &MachineConfigNode::status},
  };
};

}  // namespace pintle::api
