// SPDX-License-Identifier: Apache-2.0
#pragma once

// A Node, with the few fields that the Machine Config Operator and we use.

#include <optional>
#include <string>
#include <vector>

#include "api/lenient.h"
#include "api/meta.h"
#include "json/field_list.h"

namespace pintle::api {

// A taint keeps pods without a matching toleration off a node.
struct Taint {
  std::string key;
  std::string value;
  std::string effect;  // "NoSchedule", "PreferNoSchedule" or "NoExecute".
  std::optional<Time> time_added;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"key", &Taint::key},
      json::Field{"value", &Taint::value},
      json::Required{"effect", &Taint::effect},
      json::Field{"timeAdded", &Taint::time_added},
  };
};

struct NodeSpec {
  bool unschedulable = false;
  std::vector<Taint> taints;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Field{"unschedulable", &NodeSpec::unschedulable},
      json::Field{"taints", &NodeSpec::taints},
  };
};

struct NodeCondition {
  std::string type;
  std::string status;  // "True", "False" or "Unknown".

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"type", &NodeCondition::type},
      json::Required{"status", &NodeCondition::status},
  };
};

struct NodeStatus {
  std::vector<NodeCondition> conditions;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{json::Field{"conditions", &NodeStatus::conditions}};
};

struct Node {
  std::string api_version = "v1";
  std::string kind = "Node";
  ObjectMeta metadata;
  NodeSpec spec;
  NodeStatus status;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"apiVersion", &Node::api_version}, json::Required{"kind", &Node::kind},
      json::Required{"metadata", &Node::metadata},      json::Required{"spec", &Node::spec},
      json::Required{"status", &Node::status},
  };
};

}  // namespace pintle::api
