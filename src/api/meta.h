// SPDX-License-Identifier: Apache-2.0
#pragma once

// The metadata of every Kubernetes object: its name, labels, annotations, owners and timestamps.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/lenient.h"
#include "base/clock.h"
#include "json/field_list.h"

namespace pintle::api {

// A point in time as Kubernetes writes it, RFC 3339 with whole seconds.
struct Time {
  WallTime at;
  auto operator<=>(const Time&) const = default;
};

using Labels = std::map<std::string, std::string>;
using Annotations = std::map<std::string, std::string>;

// Returns the value of a label or an annotation, or nullptr.  An object has few of them, so a linear search costs less
// than making a std::string for a lookup.
inline const std::string* Find(const std::map<std::string, std::string>& labels, std::string_view key) {
  for (const auto& [name, value] : labels) {
    if (name == key) return &value;
  }
  return nullptr;
}

// The apiVersion of the objects of the Machine Config Operator.
inline constexpr std::string_view kMachineConfigApiVersion = "machineconfiguration.openshift.io/v1";

// The fields that identify the kind of an object.
struct TypeMeta {
  std::string api_version;
  std::string kind;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Field{"apiVersion", &TypeMeta::api_version},
      json::Field{"kind", &TypeMeta::kind},
  };
};

struct OwnerReference {
  std::string api_version;
  std::string kind;
  std::string name;
  std::string uid;
  std::optional<bool> controller;
  std::optional<bool> block_owner_deletion;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"apiVersion", &OwnerReference::api_version},
      json::Required{"kind", &OwnerReference::kind},
      json::Required{"name", &OwnerReference::name},
      json::Required{"uid", &OwnerReference::uid},
      json::Field{"controller", &OwnerReference::controller},
      json::Field{"blockOwnerDeletion", &OwnerReference::block_owner_deletion},
  };
};

struct ObjectMeta {
  std::string name;
  std::string namespace_name;
  std::string uid;
  std::string resource_version;
  std::int64_t generation = 0;
  std::optional<Time> creation_timestamp;
  std::optional<Time> deletion_timestamp;
  Labels labels;
  Annotations annotations;
  std::vector<OwnerReference> owner_references;
  std::vector<std::string> finalizers;

  // Returns the value of an annotation, or "" if there is none.
  const std::string& Annotation(std::string_view key) const {
    static const std::string kNone;
    const std::string* value = Find(annotations, key);
    return value == nullptr ? kNone : *value;
  }

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Field{"name", &ObjectMeta::name},
      json::Field{"namespace", &ObjectMeta::namespace_name},
      json::Field{"uid", &ObjectMeta::uid},
      json::Field{"resourceVersion", &ObjectMeta::resource_version},
      json::Field{"generation", &ObjectMeta::generation},
      json::Field{"creationTimestamp", &ObjectMeta::creation_timestamp},
      json::Field{"deletionTimestamp", &ObjectMeta::deletion_timestamp},
      json::Field{"labels", &ObjectMeta::labels},
      json::Field{"annotations", &ObjectMeta::annotations},
      json::Field{"ownerReferences", &ObjectMeta::owner_references},
      json::Field{"finalizers", &ObjectMeta::finalizers},
  };
};

// A reference to another object; fields that are not known are empty.
struct ObjectReference {
  std::string kind;
  std::string namespace_name;
  std::string name;
  std::string uid;
  std::string api_version;
  std::string resource_version;
  std::string field_path;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Field{"kind", &ObjectReference::kind},
      json::Field{"namespace", &ObjectReference::namespace_name},
      json::Field{"name", &ObjectReference::name},
      json::Field{"uid", &ObjectReference::uid},
      json::Field{"apiVersion", &ObjectReference::api_version},
      json::Field{"resourceVersion", &ObjectReference::resource_version},
      json::Field{"fieldPath", &ObjectReference::field_path},
  };
};

// A reference to an object whose kind and namespace the context determines.
struct NameReference {
  std::string name;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{json::Required{"name", &NameReference::name}};
};

// The API server refuses a condition whose message has more characters.
inline constexpr std::size_t kLongestConditionMessage = 32768;

// The fields that nearly all status conditions have.
struct Condition {
  std::string type;
  std::string status;  // "True", "False" or "Unknown".
  std::optional<Time> last_transition_time;
  std::string reason;
  std::string message;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"type", &Condition::type},
      json::Required{"status", &Condition::status},
      json::Required{"lastTransitionTime", &Condition::last_transition_time},
      json::Required{"reason", &Condition::reason},
      json::Required{"message", &Condition::message},
  };
};

// The fields of Condition, for kinds whose conditions leave out an empty reason and an empty message.
struct BriefCondition {
  std::string type;
  std::string status;
  std::optional<Time> last_transition_time;
  std::string reason;
  std::string message;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"type", &BriefCondition::type},
      json::Required{"status", &BriefCondition::status},
      json::Required{"lastTransitionTime", &BriefCondition::last_transition_time},
      json::Field{"reason", &BriefCondition::reason},
      json::Field{"message", &BriefCondition::message},
  };
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

}  // namespace pintle::api

namespace pintle::json {

template <>
struct Codec<api::Time> {
  static void Decode(Value&& from, api::Time& to, const Path& path, Report& report) {
    if (!from.is_string()) return report.Error(path, "must be a time such as \"2026-11-21T05:41:43Z\"");
    const auto time = FromRfc3339(from.text());
    if (!time) return report.Error(path, time.error().message());
    to.at = *time;
  }
  static Value Encode(const api::Time& from) { return ToRfc3339(from.at); }
};

}  // namespace pintle::json
