// SPDX-License-Identifier: Apache-2.0
#pragma once

// A PodDisruptionBudget: how many of a group of pods may be missing.  A drain waits until budgets allow an eviction.

#include <cstdint>
#include <optional>
#include <string>

#include "api/label_selector.h"
#include "api/lenient.h"
#include "api/machine_config_pool.h"
#include "api/meta.h"
#include "json/field_list.h"

namespace pintle::api {

struct PodDisruptionBudgetSpec {
  std::optional<IntOrString> min_available;
  std::optional<IntOrString> max_unavailable;
  std::optional<LabelSelector> selector;
  std::string unhealthy_pod_eviction_policy;  // "AlwaysAllow" or "IfHealthyBudget"; empty means the latter.

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Field{"minAvailable", &PodDisruptionBudgetSpec::min_available},
      json::Field{"maxUnavailable", &PodDisruptionBudgetSpec::max_unavailable},
      json::Field{"selector", &PodDisruptionBudgetSpec::selector},
      json::Field{"unhealthyPodEvictionPolicy", &PodDisruptionBudgetSpec::unhealthy_pod_eviction_policy},
  };
};

struct PodDisruptionBudgetStatus {
  std::int64_t observed_generation = 0;
  std::int32_t disruptions_allowed = 0;
  std::int32_t current_healthy = 0;
  std::int32_t desired_healthy = 0;
  std::int32_t expected_pods = 0;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Field{"observedGeneration", &PodDisruptionBudgetStatus::observed_generation},
      json::Required{"disruptionsAllowed", &PodDisruptionBudgetStatus::disruptions_allowed},
      json::Required{"currentHealthy", &PodDisruptionBudgetStatus::current_healthy},
      json::Required{"desiredHealthy", &PodDisruptionBudgetStatus::desired_healthy},
      json::Required{"expectedPods", &PodDisruptionBudgetStatus::expected_pods},
  };
};

struct PodDisruptionBudget {
  std::string api_version = "policy/v1";
  std::string kind = "PodDisruptionBudget";
  ObjectMeta metadata;
  PodDisruptionBudgetSpec spec;
  PodDisruptionBudgetStatus status;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"apiVersion", &PodDisruptionBudget::api_version},
      json::Required{"kind", &PodDisruptionBudget::kind},
      json::Required{"metadata", &PodDisruptionBudget::metadata},
      json::Required{"spec", &PodDisruptionBudget::spec},
      json::Required{"status", &PodDisruptionBudget::status},
  };
};

}  // namespace pintle::api
