// SPDX-License-Identifier: Apache-2.0
#pragma once

// The MachineConfiguration that is named "cluster": an administrator's settings for updates in place, such as which
// changes need no reboot.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/lenient.h"
#include "api/meta.h"
#include "json/field_list.h"

namespace pintle::api {

struct ServiceReference {
  std::string service_name;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{json::Required{"serviceName", &ServiceReference::service_name}};
};

struct NodeDisruptionAction {
  // "Reboot", "Drain", "Reload", "Restart", "DaemonReload", "None", or "Special".  Only the policy's defaults have
  // "Special", which reloads CRI-O.
  std::string type;
  std::optional<ServiceReference> reload;
  std::optional<ServiceReference> restart;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"type", &NodeDisruptionAction::type},
      json::Field{"reload", &NodeDisruptionAction::reload},
      json::Field{"restart", &NodeDisruptionAction::restart},
  };
};

struct FilePolicy {
  std::string path;  // The path of a file, or of a directory to cover everything in it.
  std::vector<NodeDisruptionAction> actions;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"path", &FilePolicy::path},
      json::Required{"actions", &FilePolicy::actions},
  };
};

struct UnitPolicy {
  std::string name;
  std::vector<NodeDisruptionAction> actions;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"name", &UnitPolicy::name},
      json::Required{"actions", &UnitPolicy::actions},
  };
};

struct SshKeyPolicy {
  std::vector<NodeDisruptionAction> actions;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{json::Required{"actions", &SshKeyPolicy::actions}};
};

struct NodeDisruptionPolicy {
  std::vector<FilePolicy> files;
  std::vector<UnitPolicy> units;
  SshKeyPolicy sshkey;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Field{"files", &NodeDisruptionPolicy::files},
      json::Field{"units", &NodeDisruptionPolicy::units},
      json::Field{"sshkey", &NodeDisruptionPolicy::sshkey},
  };
};

// Sections of a config that an administrator may change although existing machines ignore the change.
struct IrreconcilableValidationOverrides {
  std::vector<std::string> storage;  // "Disks", "FileSystems" or "Raid".

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{json::Field{"storage", &IrreconcilableValidationOverrides::storage}};
};

struct MachineConfigurationSpec {
  NodeDisruptionPolicy node_disruption_policy;
  IrreconcilableValidationOverrides irreconcilable_validation_overrides;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Field{"nodeDisruptionPolicy", &MachineConfigurationSpec::node_disruption_policy},
      json::Field{"irreconcilableValidationOverrides", &MachineConfigurationSpec::irreconcilable_validation_overrides},
  };
};

// The policy with the defaults that the cluster's operator has filled in.
struct NodeDisruptionPolicyStatus {
  std::optional<NodeDisruptionPolicy> cluster_policies;

  static constexpr bool kLenient = true;
  static constexpr auto kFields =
      json::FieldList{json::Field{"clusterPolicies", &NodeDisruptionPolicyStatus::cluster_policies}};
};

// Controls whether the age of the boot images of new machines is limited.
struct BootImageSkewEnforcement {
  std::string mode;  // "Automatic", "Manual" or "None".

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{json::Field{"mode", &BootImageSkewEnforcement::mode}};
};

struct MachineConfigurationStatus {
  std::int64_t observed_generation = 0;
  NodeDisruptionPolicyStatus node_disruption_policy_status;
  BootImageSkewEnforcement boot_image_skew_enforcement;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Field{"observedGeneration", &MachineConfigurationStatus::observed_generation},
      json::Field{"nodeDisruptionPolicyStatus", &MachineConfigurationStatus::node_disruption_policy_status},
      json::Field{"bootImageSkewEnforcementStatus", &MachineConfigurationStatus::boot_image_skew_enforcement},
  };
};

struct MachineConfiguration {
  std::string api_version = "operator.openshift.io/v1";
  std::string kind = "MachineConfiguration";
  ObjectMeta metadata;
  MachineConfigurationSpec spec;
  MachineConfigurationStatus status;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"apiVersion", &MachineConfiguration::api_version},
      json::Required{"kind", &MachineConfiguration::kind},
      json::Required{"metadata", &MachineConfiguration::metadata},
      json::Field{"spec", &MachineConfiguration::spec},
      json::Field{"status", &MachineConfiguration::status},
  };
};

}  // namespace pintle::api
