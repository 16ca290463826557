// SPDX-License-Identifier: Apache-2.0
#pragma once

// What became of rendering for a pool: the condition RenderDegraded.

#include <functional>
#include <map>
#include <string>

namespace pintle::controller {

struct Verdict {
  std::string reason;   // Empty for what the Machine Config Operator gives no reason for.
  std::string message;  // Empty: it went well.
};

// Why nothing is rendered for a pool whose machineConfigSelector is empty.
inline constexpr const char* kSelectingAll = "SelectingAll";
inline constexpr const char* kSelectingAllConfigs =
    "This machineconfigpool is selecting all machineconfigs. A non-empty selector is required.";

// By pool; of one that is not here nothing is known yet.
using Verdicts = std::map<std::string, Verdict, std::less<>>;

}  // namespace pintle::controller
