// SPDX-License-Identifier: Apache-2.0
#pragma once

// Objects of a cluster, as people have them in files: `oc get ... -o json`, a List, an array, or one document after the
// other.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/machine_config_node.h"
#include "api/machine_config_pool.h"
#include "api/machine_os_build.h"
#include "api/machine_os_config.h"
#include "api/node.h"
#include "api/os_image_stream.h"
#include "base/result.h"
#include "json/parse.h"
#include "pool/status.h"

namespace pintle::ctl {

struct ClusterObjects {
  std::vector<api::MachineConfigPool> pools;
  std::vector<api::Node> nodes;
  std::vector<api::MachineConfigNode> machine_config_nodes;
  std::vector<api::MachineOSConfig> os_configs;
  std::vector<api::MachineOSBuild> os_builds;
  // A build that has a file for itself: whoever made the file says that it is the one.
  std::optional<api::MachineOSBuild> lone_os_build;
  pool::KnownConfigs configs;
  std::vector<api::OSImageStreamSet> os_image_streams;
  // Of the ControllerConfig.
  std::vector<api::CertExpiry> cert_expirys;
  std::string control_plane_topology;
};

// Adds what a file holds.  An object that does not say its kind is taken for what it looks like, or for what `kind`
// says or the file is called; one of a kind that says nothing about pools is passed over.
Result<> AddFile(const std::string& path, std::string_view kind, ClusterObjects& objects);

// Adds what a document holds.
Result<> AddDocument(json::Value document, std::string_view kind, ClusterObjects& objects);

}  // namespace pintle::ctl
