// SPDX-License-Identifier: Apache-2.0
#pragma once

// A KubeletConfig: settings of the kubelets of some pools.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/label_selector.h"
#include "api/lenient.h"
#include "api/meta.h"
#include "api/tls_security_profile.h"
#include "json/field_list.h"

namespace pintle::api {

struct KubeletConfigSpec {
  std::optional<bool> auto_sizing_reserved;
  std::optional<std::int32_t> log_level;
  std::optional<LabelSelector> machine_config_pool_selector;
  // A part of the kubelet's own configuration, as the user wrote it; null if there is none.
  json::Value kubelet_config;
  std::optional<TlsSecurityProfile> tls_security_profile;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Field{"autoSizingReserved", &KubeletConfigSpec::auto_sizing_reserved},
      json::Field{"logLevel", &KubeletConfigSpec::log_level},
      json::Field{"machineConfigPoolSelector", &KubeletConfigSpec::machine_config_pool_selector},
      json::Field{"kubeletConfig", &KubeletConfigSpec::kubelet_config},
      json::Field{"tlsSecurityProfile", &KubeletConfigSpec::tls_security_profile},
  };
};

struct KubeletConfigStatus {
  std::int64_t observed_generation = 0;
  // The latest outcomes, of type "Accepted", the newest last.  They are followed by a condition for older tools, of
  // type "Success" or "Failure".
  std::vector<BriefCondition> conditions;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Field{"observedGeneration", &KubeletConfigStatus::observed_generation},
      json::Required{"conditions", &KubeletConfigStatus::conditions},
  };
};

struct KubeletConfig {
  static constexpr std::string_view kKind = "KubeletConfig";

  ObjectMeta metadata;
  KubeletConfigSpec spec;
  KubeletConfigStatus status;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"metadata", &KubeletConfig::metadata},
      json::Required{"spec", &KubeletConfig::spec},
      json::Field{"status", &KubeletConfig::status},
  };
};

}  // namespace pintle::api
