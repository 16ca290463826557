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

// By pool; of one that is not here nothing is known yet.
using Verdicts = std::map<std::string, Verdict, std::less<>>;

}  // namespace pintle::controller
