// SPDX-License-Identifier: Apache-2.0
#pragma once

// The annotations and labels by which the node controller, the node agent and people talk to one another.

#include <string_view>

namespace pintle::api {

// Of a Node.
inline constexpr std::string_view kCurrentConfigAnnotation = "machineconfiguration.openshift.io/currentConfig";
inline constexpr std::string_view kDesiredConfigAnnotation = "machineconfiguration.openshift.io/desiredConfig";
inline constexpr std::string_view kCurrentImageAnnotation = "machineconfiguration.openshift.io/currentImage";
inline constexpr std::string_view kDesiredImageAnnotation = "machineconfiguration.openshift.io/desiredImage";
inline constexpr std::string_view kFirstPivotConfigAnnotation = "machineconfiguration.openshift.io/firstPivotConfig";
inline constexpr std::string_view kCustomPoolLabelsAppliedAnnotation =
    "machineconfiguration.openshift.io/customPoolLabelsApplied";
inline constexpr std::string_view kStateAnnotation = "machineconfiguration.openshift.io/state";
inline constexpr std::string_view kReasonAnnotation = "machineconfiguration.openshift.io/reason";
inline constexpr std::string_view kDesiredDrainAnnotation = "machineconfiguration.openshift.io/desiredDrain";
inline constexpr std::string_view kLastAppliedDrainAnnotation = "machineconfiguration.openshift.io/lastAppliedDrain";
// What follows the change that was made last; "Rebooting", or nothing.
inline constexpr std::string_view kPostConfigActionAnnotation = "machineconfiguration.openshift.io/post-config-action";
// "accessed" when someone has logged in over SSH.
inline constexpr std::string_view kSshAnnotation = "machineconfiguration.openshift.io/ssh";
inline constexpr std::string_view kControlPlaneTopologyAnnotation =
    "machineconfiguration.openshift.io/controlPlaneTopology";

// The resourceVersion of the ControllerConfig whose certificates are on the node's disk.
inline constexpr std::string_view kLastSyncedControllerConfigAnnotation =
    "machineconfiguration.openshift.io/lastSyncedControllerConfigResourceVersion";
// Of a ControllerConfig, "true" while the authorities of the API server are exchanged; and of a Node, what it has seen
// of that.
inline constexpr std::string_view kServiceCaRotateAnnotation = "machineconfiguration.openshift.io/service-ca-rotate";
inline constexpr std::string_view kLastObservedServerCaAnnotation =
    "machineconfiguration.openshift.io/lastObservedServerCAAnnotation";
// Why OSTree could not make the deployment that was staged in the boot before; empty: it could, after it could not.
inline constexpr std::string_view kFinalizeFailureAnnotation =
    "machineconfiguration.openshift.io/ostree-finalize-staged-failure";

inline constexpr std::string_view kZoneLabel = "topology.kubernetes.io/zone";
inline constexpr std::string_view kOsLabel = "kubernetes.io/os";
inline constexpr std::string_view kRoleLabelPrefix = "node-role.kubernetes.io/";
inline constexpr std::string_view kMasterRoleLabel = "node-role.kubernetes.io/master";
inline constexpr std::string_view kControlPlaneRoleLabel = "node-role.kubernetes.io/control-plane";
inline constexpr std::string_view kWorkerRoleLabel = "node-role.kubernetes.io/worker";

// Of a MachineOSConfig: the name of its newest build.
inline constexpr std::string_view kCurrentBuildAnnotation =
    "machineconfiguration.openshift.io/current-machine-os-build";
// Of a MachineOSBuild: the name of its MachineOSConfig.
inline constexpr std::string_view kMachineOSConfigNameLabel = "machineconfiguration.openshift.io/machine-os-config";

// What the agent asks the controller for, with the name of the config behind it.
inline constexpr std::string_view kDrainPrefix = "drain-";
inline constexpr std::string_view kUncordonPrefix = "uncordon-";
inline constexpr std::string_view kSingleReplicaTopology = "SingleReplica";

// The state that a node's agent says it is in.
inline constexpr std::string_view kStateWorking = "Working";
inline constexpr std::string_view kStateDone = "Done";
inline constexpr std::string_view kStateDegraded = "Degraded";
inline constexpr std::string_view kStateRebooting = "Rebooting";
inline constexpr std::string_view kStateUnreconcilable = "Unreconcilable";

// A node that has work ahead is less likely to be given pods.
inline constexpr std::string_view kUpdateInProgressTaint = "UpdateInProgress";
inline constexpr std::string_view kPreferNoSchedule = "PreferNoSchedule";

}  // namespace pintle::api
