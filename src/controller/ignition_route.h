// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a request to the Ignition server is for.
//
// The paths, and what becomes of unclean ones, are those of the Machine Config Operator's server: the pool is the last
// part of what stands below /config/, and a path with "//" or ".." is answered with where it leads.

#include <string>
#include <string_view>
#include <variant>

namespace pintle::controller {

struct ConfigRoute {
  std::string pool;
  bool operator==(const ConfigRoute&) const = default;
};
struct RedirectRoute {
  std::string location;
  bool operator==(const RedirectRoute&) const = default;
};
// Answered with a status and nothing else.
struct PlainRoute {
  int status;
  bool operator==(const PlainRoute&) const = default;
};
using IgnitionRoute = std::variant<ConfigRoute, RedirectRoute, PlainRoute>;

IgnitionRoute RouteOf(std::string_view method, std::string_view target);

// What a redirect says to people.
std::string RedirectText(std::string_view location);

}  // namespace pintle::controller
