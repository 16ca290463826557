// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes the change that a look has prepared, on the worker's thread.

#include <stop_token>

#include "agent/survey.h"
#include "base/result.h"
#include "change/apply.h"
#include "host/this_machine.h"

namespace pintle::agent {

struct MadeChange {
  Result<change::Ending> ending;
  bool is_in_journal = false;  // The change has failed, and the machine has to be recovered from it.
};

// Makes the change, and logs its beginning and its end for `pintle history`.  logind holds back a shutdown meanwhile.
// The caller must hold the claim.  A request to stop ends only the fetch with which the change begins.
MadeChange MakeChange(const host::ThisMachine& machine, const Prepared& prepared, const change::Progress& progress,
                      const std::stop_token& stop);

}  // namespace pintle::agent
