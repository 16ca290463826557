// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the API server did not let the controller write, as the passes have to know it: by node.

#include <functional>
#include <map>
#include <string>

namespace pintle::controller {

struct Unwritten {
  std::string why;          // With the server's words.  Empty: it may be better in a moment, and is not told yet.
  bool is_due = true;       // It may be tried again now.
  bool is_unknown = false;  // Nobody knows whether it was written: the node has to be read first.
};

struct UnwrittenNodes {
  std::map<std::string, Unwritten, std::less<>> nodes;
  std::map<std::string, Unwritten, std::less<>> reports;  // MachineConfigNodes.
};

}  // namespace pintle::controller
