// SPDX-License-Identifier: Apache-2.0
#pragma once

// Computes the difference between the config that waits for a paused pool and the configs that its nodes have: what
// changes, and which actions of the nodes the change needs.

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

// Rendered configs with all their parts, by name.
using WholeConfigs = std::map<std::string, machineconfig::ParsedConfig, std::less<>>;

// A file with certificates of authorities that waits to be replaced.
struct WaitingBundle {
  std::string path;
  // The expiry and the subject of the certificate that expires last in the nodes' file.  There is no expiry if the
  // nodes do not have the file.  In the kubelet's bundle, only authorities that sign for the API server count, if there
  // are any.
  std::optional<WallTime> valid_until;
  std::string subject;
};

struct PausedDifference {
  std::vector<std::string> files;    // Paths of files that differ between the target and the config of any node.
  std::vector<std::string> units;    // Names of units that differ.
  std::vector<std::string> other;    // Other changes: "Upgrading OS", "Changing users".
  bool reboots = false;              // Unpausing reboots nodes.
  bool drains = false;               // Unpausing drains nodes.
  std::vector<std::string> reasons;  // The reasons why nodes reboot or are drained.
  std::string obstacle;              // The reason why nodes cannot reach the target, if they cannot.
  std::vector<std::string> unknown;  // Configs that could not be read.  If there are any, the difference is incomplete.
  std::vector<WaitingBundle> bundles;
  bool has_only_bundles = false;  // Nothing waits except for `bundles`.
};

// Compares the config `target` with each of the configs that nodes have, by the agent's planner, so that the result
// matches what agents will do.  The policy is the administrator's, with or without the defaults.
PausedDifference DifferenceOf(const std::string& target, const std::set<std::string, std::less<>>& node_configs,
                              const WholeConfigs& configs, const api::NodeDisruptionPolicy& policy,
                              const api::IrreconcilableValidationOverrides& overrides);

}  // namespace pintle::controller
