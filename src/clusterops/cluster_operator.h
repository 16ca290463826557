// SPDX-License-Identifier: Apache-2.0
#pragma once

// The status of the ClusterOperator `machine-config`.  It reports the progress of an upgrade and the state of the
// machines to people and to the cluster's version operator.
//
// The versions in the status are those of the latest release that has been installed completely.  So during an upgrade,
// they differ from the release that the cluster is to have.  While the cluster is being installed, the status has no
// versions.

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/cluster_operator.h"
#include "api/machine_config_pool.h"
#include "api/meta.h"

namespace pintle::clusterops {

// The parts of the operator's work, in the order in which they are done.  If some parts fail, the reason of the
// condition Degraded begins with the name of the first part that failed.
inline constexpr std::string_view kRenderConfigTask = "RenderConfig";
inline constexpr std::string_view kMachineConfigurationTask = "MachineConfiguration";
inline constexpr std::string_view kMachineConfigNodeTask = "MachineConfigNode";
inline constexpr std::string_view kMachineConfigPoolsTask = "MachineConfigPools";
inline constexpr std::string_view kMachineConfigControllerTask = "MachineConfigController";
inline constexpr std::string_view kMachineConfigServerTask = "MachineConfigServer";
inline constexpr std::string_view kRequiredPoolsTask = "RequiredPools";
inline constexpr auto kOperatorTasks = std::to_array<std::string_view>(
    {kRenderConfigTask, kMachineConfigurationTask, kMachineConfigNodeTask, kMachineConfigPoolsTask,
     kMachineConfigControllerTask, kMachineConfigServerTask, kRequiredPoolsTask});

// A part of the work that has failed.
struct TaskFailure {
  std::string task;
  std::string why;
};

// Returns the failure of the task that comes first in kOperatorTasks, or nullptr if there are no failures.  Failures of
// later tasks may be mere consequences of this failure.
const TaskFailure* FirstFailure(std::span<const TaskFailure> failures);

// The release that the cluster is to have.
struct Release {
  std::string version;
  std::string operator_image = {};  // If this is empty, the ClusterOperator keeps the image that it has.
};

// The inputs of ReportOf(); borrowed for the call.
struct ReportInputs {
  const api::ClusterOperatorStatus& before;  // The status that the ClusterOperator has.
  Release release;
  std::span<const api::MachineConfigPool* const> pools;
  std::optional<TaskFailure> failure = {};  // The first failure, as FirstFailure() returns it.
  std::string waiting = {};  // A message about the pools that the release waits for; empty if it waits for none.
  api::Time now = {};
};

enum class Importance { kNormal, kWarning };

// An event about the ClusterOperator, to be emitted after the status has been written.
struct OperatorEvent {
  Importance importance;
  std::string reason;
  std::string message;
};

struct OperatorReport {
  api::ClusterOperatorStatus status;
  std::vector<OperatorEvent> events;
};

// Returns the status that the ClusterOperator is to have, and events about what is new in it.
OperatorReport ReportOf(const ReportInputs& inputs);

// Returns the versions as Go prints them, such as "[{operator 4.21.0} {operator-image quay.io/...}]".
std::string VersionsText(std::span<const api::OperandVersion> versions);

}  // namespace pintle::clusterops
