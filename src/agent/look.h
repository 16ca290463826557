// SPDX-License-Identifier: Apache-2.0
#pragma once

// Looks at the machine, on the worker's thread: observes it, decides, and writes the files that the decision calls for.

#include "agent/observation.h"
#include "agent/state.h"
#include "agent/survey.h"
#include "base/result.h"
#include "host/host.h"

namespace pintle::agent {

// Returns the result of the look.  The caller must hold the claim to the machine.
Result<Survey> LookAt(const host::Host& host, const SurveyRequest& request, const Goal& goal);

}  // namespace pintle::agent
