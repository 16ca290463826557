// SPDX-License-Identifier: Apache-2.0
#pragma once

// The writes that have failed or whose answers were lost, by node, as inputs for the passes.

#include <functional>
#include <map>
#include <string>

namespace pintle::controller {

struct Unwritten {
  // The server's error.  Empty if the failure may pass in a moment, and so is not reported yet.
  std::string why;
  bool is_due = true;       // The write may be repeated now.
  bool is_unknown = false;  // It is unknown whether the write took effect, so the node has to be read first.
};

struct UnwrittenNodes {
  std::map<std::string, Unwritten, std::less<>> nodes;
  std::map<std::string, Unwritten, std::less<>> machine_config_nodes;
};

}  // namespace pintle::controller
