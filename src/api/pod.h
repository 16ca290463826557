// SPDX-License-Identifier: Apache-2.0
#pragma once

// A Pod, with the fields that a drain needs.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/lenient.h"
#include "api/meta.h"
#include "json/field_list.h"

namespace pintle::api {

struct PodVolume {
  std::string name;
  std::optional<json::Value> empty_dir;  // Set for an emptyDir, whose data is lost with its pod.

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"name", &PodVolume::name},
      json::Field{"emptyDir", &PodVolume::empty_dir},
  };
};

// A toleration lets a pod onto nodes that have a matching taint.
struct Toleration {
  std::string key;     // An empty key matches every taint.
  std::string op;      // "Exists" or "Equal"; empty means "Equal".
  std::string value;   // Not compared if the operator is "Exists".
  std::string effect;  // An empty effect matches every effect.

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Field{"key", &Toleration::key},
      json::Field{"operator", &Toleration::op},
      json::Field{"value", &Toleration::value},
      json::Field{"effect", &Toleration::effect},
  };
};

struct PodSpec {
  std::string node_name;
  Labels node_selector;
  std::vector<Toleration> tolerations;
  std::optional<std::int32_t> priority;
  std::optional<std::int64_t> termination_grace_period_seconds;
  std::vector<PodVolume> volumes;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Field{"nodeName", &PodSpec::node_name},
      json::Field{"nodeSelector", &PodSpec::node_selector},
      json::Field{"tolerations", &PodSpec::tolerations},
      json::Field{"priority", &PodSpec::priority},
      json::Field{"terminationGracePeriodSeconds", &PodSpec::termination_grace_period_seconds},
      json::Field{"volumes", &PodSpec::volumes},
  };
};

struct PodCondition {
  std::string type;
  std::string status;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"type", &PodCondition::type},
      json::Required{"status", &PodCondition::status},
  };
};

struct PodStatus {
  std::string phase;
  std::vector<PodCondition> conditions;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Field{"phase", &PodStatus::phase},
      json::Field{"conditions", &PodStatus::conditions},
  };
};

struct Pod {
  std::string api_version = "v1";
  std::string kind = "Pod";
  ObjectMeta metadata;
  PodSpec spec;
  PodStatus status;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"apiVersion", &Pod::api_version}, json::Required{"kind", &Pod::kind},
      json::Required{"metadata", &Pod::metadata},      json::Required{"spec", &Pod::spec},
      json::Required{"status", &Pod::status},
  };
};

}  // namespace pintle::api
