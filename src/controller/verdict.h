// SPDX-License-Identifier: Apache-2.0
#pragma once

// The outcome of rendering for a pool, with the reason and the message of the condition RenderDegraded.

#include <functional>
#include <map>
#include <string>

namespace pintle::controller {

struct Verdict {
  std::string reason;   // Empty where the Machine Config Operator has none.
  std::string message;  // Empty on success.
};

// The reason for a pool with an empty machineConfigSelector.
inline constexpr const char* kSelectingAll = "SelectingAll";
inline constexpr const char* kSelectingAllMessage =
    "This machineconfigpool is selecting all machineconfigs. A non-empty selector is required.";

// The verdicts by pool.  A pool without a verdict has not been rendered yet.
using Verdicts = std::map<std::string, Verdict, std::less<>>;

}  // namespace pintle::controller
