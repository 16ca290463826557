// SPDX-License-Identifier: Apache-2.0
#pragma once

// The objects that the controller reads and maintains with --operator=yes, and the API paths of their kinds.

#include <string>
#include <vector>

#include "api/cluster_operator.h"
#include "api/config_map.h"
#include "api/meta.h"
#include "kube/resource_kind.h"

namespace pintle::controller {

// A MachineConfiguration that is about to be created, with the settings that the API requires.
struct NewMachineConfiguration {
  std::string api_version = "operator.openshift.io/v1";
  std::string kind = "MachineConfiguration";
  api::ObjectMeta metadata;
  json::Value spec = {{"logLevel", "Normal"}, {"managementState", "Managed"}, {"operatorLogLevel", "Normal"}};

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"apiVersion", &NewMachineConfiguration::api_version},
      json::Required{"kind", &NewMachineConfiguration::kind},
      json::Required{"metadata", &NewMachineConfiguration::metadata},
      json::Required{"spec", &NewMachineConfiguration::spec},
  };
};

// A ControllerConfig that is about to be created.
struct NewControllerConfig {
  std::string api_version = "machineconfiguration.openshift.io/v1";
  std::string kind = "ControllerConfig";
  api::ObjectMeta metadata;
  json::Value spec;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"apiVersion", &NewControllerConfig::api_version},
      json::Required{"kind", &NewControllerConfig::kind},
      json::Required{"metadata", &NewControllerConfig::metadata},
      json::Required{"spec", &NewControllerConfig::spec},
  };
};

// An object whose spec and status are kept as JSON.  All kinds that are read in this way have the same fields, but each
// needs a type of its own, because the type selects the API path.
struct WholeObject {
  api::ObjectMeta metadata;
  json::Value spec;
  json::Value status;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"metadata", &WholeObject::metadata},
      json::Field{"spec", &WholeObject::spec},
      json::Field{"status", &WholeObject::status},
  };
};
struct InfrastructureSetting : WholeObject {};
struct NetworkSetting : WholeObject {};
struct DnsSetting : WholeObject {};
struct ProxySetting : WholeObject {};
struct ImageSetting : WholeObject {};
struct WholeClusterVersion : WholeObject {};
struct WholeDeployment : WholeObject {};
struct WholeDaemonSet : WholeObject {};
struct WholeMachineConfiguration : WholeObject {};
struct PinnedImageSet : WholeObject {};

// The account of a program, with the Secrets for pulling images.
struct ServiceAccount {
  api::ObjectMeta metadata;
  std::vector<api::NameReference> image_pull_secrets;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"metadata", &ServiceAccount::metadata},
      json::Field{"imagePullSecrets", &ServiceAccount::image_pull_secrets},
  };
};

struct Namespace {
  api::ObjectMeta metadata;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{json::Required{"metadata", &Namespace::metadata}};
};
// The namespace of OpenShift's Machine API, with which a cluster makes its machines by itself.  A cluster that was
// installed without the Machine API lacks it.
inline constexpr const char* kMachineNamespace = "openshift-machine-api";

// OpenShift's Machine API creates new machines from a MachineSet.
struct MachineSet {
  api::ObjectMeta metadata;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{json::Required{"metadata", &MachineSet::metadata}};
};

}  // namespace pintle::controller

namespace pintle::kube {

template <>
inline constexpr ResourceKind kResourceKind<api::ConfigMap> = {"", "v1", "configmaps", "ConfigMap", Scope::kNamespaced};
template <>
inline constexpr ResourceKind kResourceKind<controller::ServiceAccount> = {"", "v1", "serviceaccounts",
                                                                           "ServiceAccount", Scope::kNamespaced};
template <>
inline constexpr ResourceKind kResourceKind<controller::NewControllerConfig> = kResourceKind<api::ControllerConfig>;
template <>
inline constexpr ResourceKind kResourceKind<controller::InfrastructureSetting> = {"config.openshift.io", "v1",
                                                                                  "infrastructures", "Infrastructure"};
template <>
inline constexpr ResourceKind kResourceKind<controller::NetworkSetting> = {"config.openshift.io", "v1", "networks",
                                                                           "Network"};
template <>
inline constexpr ResourceKind kResourceKind<controller::DnsSetting> = {"config.openshift.io", "v1", "dnses", "DNS"};
template <>
inline constexpr ResourceKind kResourceKind<controller::ProxySetting> = {"config.openshift.io", "v1", "proxies",
                                                                         "Proxy"};
template <>
inline constexpr ResourceKind kResourceKind<controller::WholeClusterVersion> = {"config.openshift.io", "v1",
                                                                                "clusterversions", "ClusterVersion"};
template <>
inline constexpr ResourceKind kResourceKind<controller::WholeMachineConfiguration> =
    kResourceKind<api::MachineConfiguration>;
template <>
inline constexpr ResourceKind kResourceKind<controller::PinnedImageSet> = {kMachineConfigGroup, "v1", "pinnedimagesets",
                                                                           "PinnedImageSet"};
template <>
inline constexpr ResourceKind kResourceKind<controller::WholeDeployment> = {"apps", "v1", "deployments", "Deployment",
                                                                            Scope::kNamespaced};
template <>
inline constexpr ResourceKind kResourceKind<controller::WholeDaemonSet> = {"apps", "v1", "daemonsets", "DaemonSet",
                                                                           Scope::kNamespaced};
template <>
inline constexpr ResourceKind kResourceKind<controller::Namespace> = {"", "v1", "namespaces", "Namespace"};
template <>
inline constexpr ResourceKind kResourceKind<controller::MachineSet> = {"machine.openshift.io", "v1beta1", "machinesets",
                                                                       "MachineSet", Scope::kNamespaced};
template <>
inline constexpr ResourceKind kResourceKind<controller::ImageSetting> = {"config.openshift.io", "v1", "images",
                                                                         "Image"};

template <>
inline constexpr ResourceKind kResourceKind<api::ClusterOperator> = {"config.openshift.io", "v1", "clusteroperators",
                                                                     "ClusterOperator"};
template <>
inline constexpr ResourceKind kResourceKind<controller::NewMachineConfiguration> =
    kResourceKind<api::MachineConfiguration>;

}  // namespace pintle::kube

// Compiled in controller/codecs.cc.
namespace pintle::json {

extern template struct Coding<api::ConfigMap>;
extern template struct Coding<controller::NewControllerConfig>;
extern template struct Coding<controller::InfrastructureSetting>;
extern template struct Coding<controller::NetworkSetting>;
extern template struct Coding<controller::DnsSetting>;
extern template struct Coding<controller::ProxySetting>;
extern template struct Coding<controller::WholeClusterVersion>;
extern template struct Coding<controller::WholeMachineConfiguration>;
extern template struct Coding<controller::PinnedImageSet>;
extern template struct Coding<controller::WholeDeployment>;
extern template struct Coding<controller::WholeDaemonSet>;
extern template struct Coding<controller::Namespace>;
extern template struct Coding<controller::MachineSet>;
extern template struct Coding<controller::ImageSetting>;
extern template struct Coding<api::ClusterOperator>;
extern template struct Coding<controller::NewMachineConfiguration>;

}  // namespace pintle::json
