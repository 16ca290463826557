// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds the image that is built in the cluster for the nodes of a pool.
//
// A pool is layered when there is a MachineOSConfig for it.  Its nodes then get a rendered config together with the
// image that was built from that config, and they get neither before the image is built.

#include <span>
#include <string>
#include <string_view>

#include "api/machine_config_pool.h"
#include "api/machine_os_build.h"
#include "api/machine_os_config.h"

namespace pintle::pool {

// The objects of a layered pool.  An object that does not exist is nullptr.
struct Layering {
  const api::MachineOSConfig* config = nullptr;
  const api::MachineOSBuild* build = nullptr;

  bool is_layered() const { return config != nullptr || build != nullptr; }
  // Returns the image for the nodes, or an empty string if the pool is not layered or has no image yet.
  std::string_view image() const {
    return config == nullptr ? std::string_view() : std::string_view(config->status.current_image_pull_spec);
  }
};

// Picks the objects of one pool from those of the whole cluster.
Layering FindLayering(const api::MachineConfigPool& pool, std::span<const api::MachineOSConfig> configs,
                      std::span<const api::MachineOSBuild> builds);

// The state of a build, from its conditions.
struct BuildProgress {
  explicit BuildProgress(const api::MachineOSBuild& build);

  bool prepared;
  bool building;
  bool succeeded;
  bool failed;
  bool interrupted;

  // The build has begun and has not ended.
  bool is_active() const { return prepared || building; }
};

// States whether nodes may be given the image now, and gives the reason.
struct ImageReadiness {
  bool can_apply = false;
  std::string reason;
  std::string error;  // Empty unless a person has to intervene first.
};
// Returns whether the nodes of a layered pool may be given its image.
ImageReadiness CheckImage(const Layering& layering);

}  // namespace pintle::pool
