// SPDX-License-Identifier: Apache-2.0
#pragma once

// A CRIOCredentialProviderConfig: the images for which CRI-O may use the secrets of a pod's own namespace.

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
