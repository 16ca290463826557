// SPDX-License-Identifier: Apache-2.0
#pragma once

// Parses the target of a request to the Ignition server.
//
// Paths are treated as by the Machine Config Operator's server.  The pool is the last part of a path below /config/.  A
// path with "//", "." or ".." is redirected to the path without them, and /config is redirected to /config/.

#include <string>
#include <string_view>
#include <variant>

namespace pintle::serving {

struct ConfigRoute {
  std::string pool;
  bool operator==(const ConfigRoute&) const = default;
};
struct RedirectRoute {
  std::string location;
  bool operator==(const RedirectRoute&) const = default;
};
// The answer depends on whether there is a config for each pool.
struct ConfigsHealthRoute {
  bool operator==(const ConfigsHealthRoute&) const = default;
};
// The answer is this status alone.
struct PlainRoute {
  int status;
  bool operator==(const PlainRoute&) const = default;
};
using IgnitionRoute = std::variant<ConfigRoute, RedirectRoute, ConfigsHealthRoute, PlainRoute>;

// The path of a ConfigsHealthRoute.
inline constexpr std::string_view kConfigsHealthPath = "/healthz/configs";

// Returns how a request for this target is answered.
IgnitionRoute RouteOf(std::string_view method, std::string_view target);

// Returns the body of a redirect.
std::string RedirectText(std::string_view location);

}  // namespace pintle::serving
