// SPDX-License-Identifier: Apache-2.0
#pragma once

// What lies between the configs that nodes of a paused pool have and the one that waits for them: what differs, and
// what nodes would have to do for it.

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/machine_configuration.h"
#include "base/clock.h"
#include "machineconfig/reconcilable.h"

namespace pintle::controller {

inline constexpr std::string_view kKubeletAuthorities = "/etc/kubernetes/kubelet-ca.crt";
inline constexpr std::string_view kCloudAuthorities =
    "/etc/kubernetes/static-pod-resources/configmaps/cloud-config/ca-bundle.pem";

// By name.
using WholeConfigs = std::map<std::string, machineconfig::ParsedConfig, std::less<>>;

// A file of authorities' certificates that waits to be replaced.
struct WaitingBundle {
  std::string path;
  // Of what the nodes have: when the last of its certificates is over, and whose that is.  Nothing where the nodes have
  // no such file yet.  Of the kubelet's authorities only those that sign for the API server count, if there are any.
  std::optional<WallTime> valid_until;
  std::string subject;
};

struct PausedDifference {
  std::vector<std::string> files;  // Paths that differ, between the target and what any of the nodes has.
  std::vector<std::string> units;  // Names that differ.
  std::vector<std::string> other;  // "Upgrading OS", "Changing users"
  bool reboots = false;            // What unpausing does to nodes.
  bool drains = false;
  std::vector<std::string> reasons;  // Of the reboot, or of the drain.
  std::string obstacle;              // Why nodes cannot get to the target at all.
  std::vector<std::string> unknown;  // Configs that could not be looked at, without which this is not all.
  std::vector<WaitingBundle> bundles;
  bool has_only_bundles = false;  // Nothing else waits.
};

// Between the config `target` and each of `have`.  By the planner of the agent, so that what is said is what is done;
// the policy is the administrator's, with the defaults or without them.
PausedDifference DifferenceOf(const std::string& target, const std::set<std::string, std::less<>>& have,
                              const WholeConfigs& configs, const api::NodeDisruptionPolicy& policy,
                              const api::IrreconcilableValidationOverrides& overrides);

}  // namespace pintle::controller
