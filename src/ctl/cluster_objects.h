// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads objects of a cluster from files in the forms in which people save them: the output of `oc get ... -o json`,
// a List, an array, or several documents.

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
#include "api/rollout_policy.h"
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
  // The MachineOSBuild of a file that has no other object.  It counts as the pool's build if no build matches the pool.
  std::optional<api::MachineOSBuild> lone_os_build;
  pool::KnownConfigs configs;
  std::vector<api::OSImageStreamSet> os_image_streams;
  std::vector<api::RolloutPolicy> rollout_policies;
  // The ControllerConfig has these two.
  std::vector<api::CertExpiry> cert_expirys;
  std::string control_plane_topology;
};

// Adds the objects in a file to `objects`.  If an object has no kind, its kind is guessed, in this order: from its
// fields, from the kind of the List that contains it, from `kind`, and from the file's name.  Objects of kinds that
// ClusterObjects has no place for are skipped.
Result<> AddFile(const std::string& path, std::string_view kind, ClusterObjects& objects);

// Adds the objects in a document.  The kind of an object without a kind is guessed as in AddFile(), but no file's name
// is known.
Result<> AddDocument(json::Value document, std::string_view kind, ClusterObjects& objects);

}  // namespace pintle::ctl
