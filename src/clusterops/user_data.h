// SPDX-License-Identifier: Apache-2.0
#pragma once

// The user data of new machines: a pointer config, with which Ignition fetches the config of the machine's pool.

#include <string>
#include <vector>

#include "json/value.h"

namespace pintle::clusterops {

// Returns the host under which new machines reach the Ignition server, or "" if that is not known.  `infrastructure` is
// the copy in the ControllerConfig.
std::string HostOfServer(const json::Value& infrastructure);

// Returns all names and addresses under which machines may reach the server, sorted.
std::vector<std::string> HostsOfServer(const json::Value& infrastructure);

struct PointerInputs {
  std::string host;
  std::string pool;
  std::string authority;   // The bundle that machines check the server's certificate with, in base64.
  std::string token = {};  // Empty if the server needs none.
};

// Returns the pointer config for the machines of a pool.
json::Value PointerConfig(const PointerInputs& inputs);

// Returns the token in a pointer config, or "".
std::string TokenIn(const json::Value& pointer);

// Returns whether `text` is a config with which a machine does the same as with `pointer`.
bool IsSamePointer(const std::string& text, const json::Value& pointer);

}  // namespace pintle::clusterops
