// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds the actions that must follow a change of the config (reload, restart, reboot, none), and the reason of each.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/machine_configuration.h"
#include "base/result.h"
#include "plan/difference.h"
#include "plan/disruption_policy.h"

namespace pintle::plan {

namespace action_type {
inline constexpr std::string_view kReboot = "Reboot";
inline constexpr std::string_view kDrain = "Drain";
inline constexpr std::string_view kReload = "Reload";
inline constexpr std::string_view kRestart = "Restart";
inline constexpr std::string_view kDaemonReload = "DaemonReload";
inline constexpr std::string_view kNone = "None";
// Reloads CRI-O.  The node is drained first, unless the change of the registries is harmless (registries.h).
inline constexpr std::string_view kSpecial = "Special";
}  // namespace action_type

struct Action {
  api::NodeDisruptionAction what;
  std::vector<std::string> reasons;  // For example "/etc/motd: no policy covers it".
};

// Returns the actions for a running node.  `policy` must already include the defaults (WithDefaults()).
std::vector<Action> ActionsFor(const Difference& difference, const NodeDisruptionPolicy& policy);

// Returns the action for a node that is not in the cluster yet, where no policy is known: "reboot", "none", "reload
// crio" or "restart crio".
std::string FirstBootActionFor(const Difference& difference);

// Returns an error if an action has an unknown type, or is a reload or a restart that names no service.  This version
// cannot perform such an action, which must not count as done.
Result<> ExpectKnownActions(std::span<const api::NodeDisruptionAction> actions);

// Does the same for the actions of a policy.  The error also names the path, the unit, or "SSH keys".
Result<> ExpectKnownActions(const api::NodeDisruptionPolicy& policy);

// Returns the service that an action reloads or restarts, or "".
std::string_view ServiceOf(const api::NodeDisruptionAction& action);

}  // namespace pintle::plan
