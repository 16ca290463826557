// SPDX-License-Identifier: Apache-2.0
#pragma once

// The status of a KubeletConfig: whether it was accepted, and if not, why.
//
// Its conditions are a history of the last three outcomes.  At the end, there is one more condition of an older kind,
// because older tools look for it.

#include <optional>
#include <string>

#include "api/kubelet_config.h"
#include "base/clock.h"
#include "base/result.h"

namespace pintle::generated {

// The outcome of making configs from a KubeletConfig.  The message is "Success", or describes an error.
struct KubeletOutcome {
  bool is_accepted = false;
  std::string message;
};

KubeletOutcome Accepted();
KubeletOutcome Refused(const Error& error);

// Return the outcomes if no name can be chosen for the config of a pool, and if the configuration that the
// KubeletConfig is merged over cannot be read.
KubeletOutcome WithoutName(const Error& error);
KubeletOutcome WithoutBase(const Error& error);

// Returns the status after this outcome, or nullopt if only the time would change.
std::optional<api::KubeletConfigStatus> StatusAfter(const api::KubeletConfig& object, const KubeletOutcome& outcome,
                                                    WallTime now);

// Returns whether the current generation of the object was accepted.
bool IsAccepted(const api::KubeletConfig& object);

}  // namespace pintle::generated
