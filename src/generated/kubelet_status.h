// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes the status of a KubeletConfig, which reports whether it was accepted, and if not, why.
//
// Its conditions are a history of the last three outcomes.  An outcome replaces the outcome before it if both have the
// same message.  After the history, there is one condition of an older type, Success or Failure, because older tools
// look for it.

#include <optional>
#include <string>

#include "api/kubelet_config.h"
#include "base/clock.h"
#include "base/result.h"

namespace pintle::generated {

// The outcome of making configs from a KubeletConfig.  The message is "Success" or describes an error.
struct KubeletOutcome {
  bool is_accepted = false;
  std::string message;
};

KubeletOutcome Accepted();
KubeletOutcome Refused(const Error& error);

// Returns the outcome for the case that no name can be chosen for the config of a pool.
KubeletOutcome OutcomeWithoutName(const Error& error);
// Returns the outcome for the case that the kubelet's original configuration, which the KubeletConfig changes, cannot
// be read.
KubeletOutcome OutcomeWithoutBase(const Error& error);

// Returns the status that the object is to have after this outcome, or nullopt if only times would change in it.
std::optional<api::KubeletConfigStatus> StatusAfter(const api::KubeletConfig& object, const KubeletOutcome& outcome,
                                                    WallTime now);

}  // namespace pintle::generated
