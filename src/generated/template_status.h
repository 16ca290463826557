// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes the status of a ControllerConfig, which reports whether MachineConfigs were made from the templates for its
// current generation.
//
// A condition that changes moves to the end of the list.  Other controllers wait until the status reports completion.

#include <cstdint>
#include <string_view>

#include "api/controller_config.h"
#include "base/clock.h"
#include "base/result.h"

namespace pintle::generated {

// A sync is one attempt to make the configs.  This struct identifies the sync that a status reports.
struct TemplateSync {
  std::int64_t generation = 0;
  std::string_view version;  // The version of the operator.
  WallTime now;
};

// Returns the status before the configs of a new generation are made.
api::ControllerConfigStatus StatusWhenRunning(api::ControllerConfigStatus status, const TemplateSync& sync);

api::ControllerConfigStatus StatusWhenFailing(api::ControllerConfigStatus status, const TemplateSync& sync,
                                              const Error& error);

api::ControllerConfigStatus StatusWhenCompleted(api::ControllerConfigStatus status, const TemplateSync& sync);

}  // namespace pintle::generated
