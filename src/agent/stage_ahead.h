// SPDX-License-Identifier: Apache-2.0
#pragma once

// Stages a goal ahead of its change, on a worker's thread.
//
// The claim to the machine is held only while the change is planned and while its files are checked.  It is not held
// while the image is fetched, which may take long: looks and the commands of a person go on meanwhile.

#include <stop_token>

#include "agent/observation.h"
#include "agent/state.h"
#include "base/result.h"
#include "host/this_machine.h"

namespace pintle::agent {

// A function below returns one of these values if it has ended without an error.
enum class StagingEnd {
  kDone,
  kBusy,  // Someone else holds the claim at the moment.
};

// Plans the change to the goal, fetches its image, and checks its files.  An error is the reason why the machine could
// not make the change.
Result<StagingEnd> StageAhead(const host::ThisMachine& machine, const SurveyRequest& request, const Goal& goal,
                              const std::stop_token& stop);

// Removes the images that no deployment has, and the record of the image that was fetched ahead.
Result<StagingEnd> RemoveStaged(const host::ThisMachine& machine);

// Removes the images of earlier changes that no deployment has any more.
Result<StagingEnd> RemoveUnneeded(const host::ThisMachine& machine);

// Removes only the record of the image that was fetched ahead.
Result<StagingEnd> ForgetStaged(const host::ThisMachine& machine);

}  // namespace pintle::agent
