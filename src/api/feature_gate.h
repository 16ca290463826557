// SPDX-License-Identifier: Apache-2.0
#pragma once

// The FeatureGate of a cluster: which features each of its releases enables and disables.

#include <string>
#include <string_view>
#include <vector>

#include "api/lenient.h"
#include "api/meta.h"
#include "json/field_list.h"

namespace pintle::api {

struct FeatureGateDetails {
  std::string version;
  std::vector<NameReference> enabled;
  std::vector<NameReference> disabled;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"version", &FeatureGateDetails::version},
      json::Field{"enabled", &FeatureGateDetails::enabled},
      json::Field{"disabled", &FeatureGateDetails::disabled},
  };
};

struct FeatureGateStatus {
  std::vector<FeatureGateDetails> feature_gates;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{json::Field{"featureGates", &FeatureGateStatus::feature_gates}};
};

struct FeatureGate {
  static constexpr std::string_view kKind = "FeatureGate";

  ObjectMeta metadata;
  FeatureGateStatus status;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"metadata", &FeatureGate::metadata},
      json::Field{"status", &FeatureGate::status},
  };
};

}  // namespace pintle::api
