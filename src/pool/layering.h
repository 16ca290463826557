// SPDX-License-Identifier: Apache-2.0
#pragma once

// Pools whose nodes run an image that is built in the cluster.
//
// A pool is layered when there is a MachineOSConfig for it.  Its nodes then get a rendered config and the image that
// was built from it together, and none before the image is built.

#include <span>
#include <string>
#include <string_view>

#include "api/machine_config_pool.h"
#include "api/machine_os_build.h"
#include "api/machine_os_config.h"

namespace pintle::pool {

// What there is for a pool; nullptr for what there is not.
struct Layering {
  const api::MachineOSConfig* config = nullptr;
  const api::MachineOSBuild* build = nullptr;

  bool is_layered() const { return config != nullptr || build != nullptr; }
  // The image for the nodes.  Empty before the first is built.
  std::string_view image() const {
    return config == nullptr ? std::string_view() : std::string_view(config->status.current_image_pull_spec);
  }
};

// The pool's own among all of a cluster.
Layering FindLayering(const api::MachineConfigPool& pool, std::span<const api::MachineOSConfig> configs,
                      std::span<const api::MachineOSBuild> builds);

// How a build goes.
struct BuildProgress {
  explicit BuildProgress(const api::MachineOSBuild& build);

  bool prepared;
  bool building;
  bool succeeded;
  bool failed;
  bool interrupted;

  bool is_active() const { return prepared || building; }
  bool is_initial() const { return !prepared && !building && !succeeded && !failed && !interrupted; }
};

// Whether nodes may be told of the image by now.
struct ImageReadiness {
  bool can_apply = false;
  std::string reason;
  std::string error;  // Set when it will not be without somebody's help.
};
ImageReadiness CheckImage(const Layering& layering);

}  // namespace pintle::pool
