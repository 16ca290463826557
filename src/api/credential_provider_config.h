// SPDX-License-Identifier: Apache-2.0
#pragma once

// A CRIOCredentialProviderConfig: the images for which CRI-O may use the secrets of a pod's own namespace.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/lenient.h"
#include "api/meta.h"
#include "json/field_list.h"

namespace pintle::api {

struct CredentialProviderConfigSpec {
  std::vector<std::string> match_images;

  static constexpr bool kLenient = true;
  static constexpr auto kFields =
      json::FieldList{json::Field{"matchImages", &CredentialProviderConfigSpec::match_images}};
};

// The fields of Condition, and the generation of the object that the condition describes.
struct ConditionWithGeneration {
  std::string type;
  std::string status;
  std::int64_t observed_generation = 0;
  std::optional<Time> last_transition_time;
  std::string reason;
  std::string message;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"type", &ConditionWithGeneration::type},
      json::Required{"status", &ConditionWithGeneration::status},
      json::Field{"observedGeneration", &ConditionWithGeneration::observed_generation},
      json::Required{"lastTransitionTime", &ConditionWithGeneration::last_transition_time},
      json::Required{"reason", &ConditionWithGeneration::reason},
      json::Required{"message", &ConditionWithGeneration::message},
  };
};

struct CredentialProviderConfigStatus {
  std::vector<ConditionWithGeneration> conditions;

  static constexpr bool kLenient = true;
  static constexpr auto kFields =
      json::FieldList{json::Field{"conditions", &CredentialProviderConfigStatus::conditions}};
};

struct CredentialProviderConfig {
  static constexpr std::string_view kKind = "CRIOCredentialProviderConfig";

  ObjectMeta metadata;
  CredentialProviderConfigSpec spec;
  CredentialProviderConfigStatus status;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"metadata", &CredentialProviderConfig::metadata},
      json::Required{"spec", &CredentialProviderConfig::spec},
      json::Field{"status", &CredentialProviderConfig::status},
  };
};

}  // namespace pintle::api
