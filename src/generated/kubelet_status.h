// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a KubeletConfig says of itself: whether it was accepted, and if not, why.
//
// Its conditions are a history: the last three outcomes, and behind them one condition of a kind that older tools look
// for.

#include <optional>
#include <string>

#include "api/kubelet_config.h"
#include "base/clock.h"
#include "base/result.h"

namespace pintle::generated {

// "Success", or what an error is told as.
struct KubeletOutcome {
  bool is_accepted = false;
  std::string message;
};

KubeletOutcome Accepted();
KubeletOutcome Refused(const Error& error);

// Why it could not become a config of a pool: the name of the config could not be chosen, what the pool has without it
// cannot be read.
KubeletOutcome WithoutName(const Error& error);
KubeletOutcome WithoutBase(const Error& error);

// The status after this outcome; nothing if it is what the object says already, but for the time.
std::optional<api::KubeletConfigStatus> StatusAfter(const api::KubeletConfig& object, const KubeletOutcome& outcome,
                                                    WallTime now);

// Whether this very version of the object was accepted.
bool IsAccepted(const api::KubeletConfig& object);

}  // namespace pintle::generated
