// SPDX-License-Identifier: Apache-2.0
#pragma once

// What must follow a change of files: reload, restart, reboot, or nothing; and because of what.

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
// Reloads CRI-O, and drains before that unless the change of the registries is harmless.
inline constexpr std::string_view kSpecial = "Special";
}  // namespace action_type

struct Action {
  api::NodeDisruptionAction what;
  std::vector<std::string> reasons;  // "/etc/motd: no policy covers it"
};

// For a running node, by its policy, which must hold the defaults already.
std::vector<Action> ActionsFor(const Difference& difference, const NodeDisruptionPolicy& policy);

// For a node that is not in the cluster yet, where no policy can be had: "reboot", "none", "reload crio" or "restart
// crio".
std::string FirstBootActionFor(const Difference& difference);

// An error names an action that this version does not know, which must not pass for one that is done.
Result<> ExpectKnown(std::span<const api::NodeDisruptionAction> actions);

// The service that an action is about, or "".
std::string_view ServiceOf(const api::NodeDisruptionAction& action);

}  // namespace pintle::plan
