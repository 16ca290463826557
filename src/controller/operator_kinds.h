// SPDX-License-Identifier: Apache-2.0
#pragma once

// The objects that the operator's part of the controller reports in, and the API paths of their kinds.

#include <string>

#include "api/cluster_operator.h"
#include "api/meta.h"
#include "kube/resource_kind.h"

namespace pintle::controller {

// A MachineConfiguration that is to be created, with the settings that the API requires.
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

}  // namespace pintle::controller

namespace pintle::kube {

template <>
inline constexpr ResourceKind kResourceKind<api::ClusterOperator> = {"config.openshift.io", "v1", "clusteroperators",
                                                                     "ClusterOperator"};
template <>
inline constexpr ResourceKind kResourceKind<controller::NewMachineConfiguration> =
    kResourceKind<api::MachineConfiguration>;

}  // namespace pintle::kube
