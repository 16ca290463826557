// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides the contents of the ControllerConfig from the objects that describe the cluster.

#include <optional>
#include <string>

#include "clusterops/controller_config.h"
#include "controller/generated_kinds.h"
#include "controller/operator_kinds.h"
#include "controller/view.h"
#include "json/value.h"

namespace pintle::controller {

struct ControllerConfigPassInputs {
  const clusterops::ControllerConfigInputs& sources;
  const WholeControllerConfig* known = nullptr;  // The ControllerConfig; nullptr if there is none.
  // True if the authorities of the API server have changed recently, so that nodes have to read them again.
  bool are_authorities_new = false;
};

struct ControllerConfigChange {
  std::optional<json::Value> patch = {};            // A JSON patch of `known`; unset if nothing changes.
  std::optional<NewControllerConfig> created = {};  // The ControllerConfig to create; unset if none is created.
  std::string problem = {};  // Why fields are left as they are, or why no ControllerConfig is created, or "".
  std::string warning = {};  // The missing inputs that the cluster works without, or "".
};

ControllerConfigChange ControllerConfigPass(const ControllerConfigPassInputs& inputs);

// Sets the members of `sources` that are about the OSImageStream.  If the cluster has one, the OS images are those of
// the OSImageStream, even while it cannot be read.
void AddOsImageStream(const View& view, clusterops::ControllerConfigInputs& sources);

// Sets the members `present...` of `sources` from `known`, the existing ControllerConfig, which must outlive `sources`.
void AddPresent(const WholeControllerConfig& known, const View& view, clusterops::ControllerConfigInputs& sources);

}  // namespace pintle::controller
