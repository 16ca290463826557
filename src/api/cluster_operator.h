// SPDX-License-Identifier: Apache-2.0
#pragma once

// A ClusterOperator: what a part of OpenShift reports to people and to the cluster's version operator.

#include <string>
#include <vector>

#include "api/lenient.h"
#include "api/meta.h"
#include "json/field_list.h"

namespace pintle::api {

// The name of the ClusterOperator of the Machine Config Operator, whose place Pintle takes.
inline constexpr const char* kMachineConfigOperatorName = "machine-config";

// The version of a running component.  The component "operator" has a version such as "4.21.0", and "operator-image"
// has the name of an image.
struct OperandVersion {
  std::string name;
  std::string version;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"name", &OperandVersion::name},
      json::Required{"version", &OperandVersion::version},
  };
};

// An object to look at when the operator is degraded.  An empty name stands for all objects of the kind.
struct RelatedObject {
  std::string group;
  std::string resource;
  std::string namespace_name;
  std::string name;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"group", &RelatedObject::group},
      json::Required{"resource", &RelatedObject::resource},
      json::Field{"namespace", &RelatedObject::namespace_name},
      json::Required{"name", &RelatedObject::name},
  };
};

struct ClusterOperatorStatus {
  std::vector<Condition> conditions;
  std::vector<OperandVersion> versions;
  std::vector<RelatedObject> related_objects;
  json::Value extension;  // An object with fields that the operator defines itself.

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Field{"conditions", &ClusterOperatorStatus::conditions},
      json::Field{"versions", &ClusterOperatorStatus::versions},
      json::Field{"relatedObjects", &ClusterOperatorStatus::related_objects},
      json::Field{"extension", &ClusterOperatorStatus::extension},
  };
};

struct ClusterOperator {
  std::string api_version = "config.openshift.io/v1";
  std::string kind = "ClusterOperator";
  ObjectMeta metadata;
  json::Value spec = json::Value::object();  // The spec has no fields, but must exist.
  ClusterOperatorStatus status;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"apiVersion", &ClusterOperator::api_version},
      json::Required{"kind", &ClusterOperator::kind},
      json::Required{"metadata", &ClusterOperator::metadata},
      json::Required{"spec", &ClusterOperator::spec},
      json::Field{"status", &ClusterOperator::status},
  };
};

}  // namespace pintle::api
