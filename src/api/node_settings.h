// SPDX-License-Identifier: Apache-2.0
#pragma once

// The Node of config.openshift.io: the settings of all nodes of a cluster.  A cluster has one, which is named
// "cluster".

#include <string>
#include <string_view>

#include "api/lenient.h"
#include "api/meta.h"
#include "json/field_list.h"

namespace pintle::api {

struct NodeSettingsSpec {
  std::string cgroup_mode;             // "v2", or "" with the same meaning.
  std::string worker_latency_profile;  // Sets how often workers report; "" keeps the templates' value.

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Field{"cgroupMode", &NodeSettingsSpec::cgroup_mode},
      json::Field{"workerLatencyProfile", &NodeSettingsSpec::worker_latency_profile},
  };
};

struct NodeSettings {
  static constexpr std::string_view kKind = "Node";

  ObjectMeta metadata;
  NodeSettingsSpec spec;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"metadata", &NodeSettings::metadata},
      json::Field{"spec", &NodeSettings::spec},
  };
};

}  // namespace pintle::api
