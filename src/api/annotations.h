// SPDX-License-Identifier: Apache-2.0
#pragma once

// The annotations and labels by which the controller, the agents and people communicate.

#include <string_view>

namespace pintle::api {

// Annotations of a Node.
inline constexpr std::string_view kCurrentConfigAnnotation = "machineconfiguration.openshift.io/currentConfig";
inline constexpr std::string_view kDesiredConfigAnnotation = "machineconfiguration.openshift.io/desiredConfig";
inline constexpr std::string_view kCurrentImageAnnotation = "machineconfiguration.openshift.io/currentImage";
inline constexpr std::string_view kDesiredImageAnnotation = "machineconfiguration.openshift.io/desiredImage";
// The config with which the machine was installed.
inline constexpr std::string_view kFirstPivotConfigAnnotation = "machineconfiguration.openshift.io/firstPivotConfig";
// A Node has this annotation after the controller has given it the labels of its custom pool.
inline constexpr std::string_view kCustomPoolLabelsAppliedAnnotation =
    "machineconfiguration.openshift.io/customPoolLabelsApplied";
inline constexpr std::string_view kStateAnnotation = "machineconfiguration.openshift.io/state";
inline constexpr std::string_view kReasonAnnotation = "machineconfiguration.openshift.io/reason";
inline constexpr std::string_view kDesiredDrainAnnotation = "machineconfiguration.openshift.io/desiredDrain";
inline constexpr std::string_view kLastAppliedDrainAnnotation = "machineconfiguration.openshift.io/lastAppliedDrain";
// The action that follows the latest change: "Rebooting", or empty.
inline constexpr std::string_view kPostConfigActionAnnotation = "machineconfiguration.openshift.io/post-config-action";
// This is "accessed" after someone has logged in to the node over SSH.
inline constexpr std::string_view kSshAnnotation = "machineconfiguration.openshift.io/ssh";
inline constexpr std::string_view kControlPlaneTopologyAnnotation =
    "machineconfiguration.openshift.io/controlPlaneTopology";

// The resourceVersion of the ControllerConfig whose certificates are on the node's disk.
inline constexpr std::string_view kLastSyncedControllerConfigAnnotation =
    "machineconfiguration.openshift.io/lastSyncedControllerConfigResourceVersion";
// On a ControllerConfig, this is "true" while the certificate authorities of the API server are rotated.
inline constexpr std::string_view kServiceCaRotateAnnotation = "machineconfiguration.openshift.io/service-ca-rotate";
// On a Node, this is "true" once the node's agent has replaced the authorities during a rotation, and "false" after it.
inline constexpr std::string_view kLastObservedServerCaAnnotation =
    "machineconfiguration.openshift.io/lastObservedServerCAAnnotation";
// The error that kept the staged deployment from being finalized at the end of the previous boot.  The agent empties
// the annotation when it starts and finds no such error.
inline constexpr std::string_view kFinalizeFailureAnnotation =
    "machineconfiguration.openshift.io/ostree-finalize-staged-failure";

// An annotation of a MachineConfigPool: the time at which the present target replaced the previous target.  Two
// rollouts of the same config differ in this time.  A pool that has had only one target does not have the annotation.
inline constexpr std::string_view kTargetSinceAnnotation = "pintle.io/target-since";

// A label of a Node.  Its value decides whether Pintle's agent acts on the node in place of the Machine Config
// Operator's daemon.  The daemon does not run on a node that has the label.  The next three constants are its values.
inline constexpr std::string_view kAgentLabel = "pintle.io/agent";
// The daemon has to leave the node.  Once it is gone, the controller sets kAgentActs.
inline constexpr std::string_view kAgentAwaited = "awaited";
// The agent has to act.
inline constexpr std::string_view kAgentActs = "acts";
// The agent has to stand by again.
inline constexpr std::string_view kAgentLeaves = "leaves";
// An annotation of a Node.  An agent that was started to wait for the label reports its state in this annotation.  The
// next three constants are its values.
inline constexpr std::string_view kAgentStateAnnotation = "pintle.io/agent-state";
// The agent changes nothing.
inline constexpr std::string_view kAgentStandsBy = "standby";
// The agent may change the node from now on.
inline constexpr std::string_view kAgentBegins = "begins";
// The agent has found that the node has its config.
inline constexpr std::string_view kAgentHasSettled = "acts";

inline constexpr std::string_view kZoneLabel = "topology.kubernetes.io/zone";
inline constexpr std::string_view kOsLabel = "kubernetes.io/os";
inline constexpr std::string_view kRoleLabelPrefix = "node-role.kubernetes.io/";
inline constexpr std::string_view kMasterRoleLabel = "node-role.kubernetes.io/master";
inline constexpr std::string_view kControlPlaneRoleLabel = "node-role.kubernetes.io/control-plane";
inline constexpr std::string_view kWorkerRoleLabel = "node-role.kubernetes.io/worker";

// The label of the pools that the Machine Config Operator itself makes.  The value of the label is empty.
inline constexpr std::string_view kBuiltInPoolLabel = "machineconfiguration.openshift.io/mco-built-in";

// An OS image that was built before the cluster was installed.  A MachineOSConfig has this annotation, and so has the
// MachineConfig that sets the image.
inline constexpr std::string_view kPreBuiltImageAnnotation = "machineconfiguration.openshift.io/pre-built-image";
// The name of a MachineOSConfig's newest build.
inline constexpr std::string_view kCurrentBuildAnnotation =
    "machineconfiguration.openshift.io/current-machine-os-build";
// The name of a MachineOSBuild's MachineOSConfig.
inline constexpr std::string_view kMachineOSConfigNameLabel = "machineconfiguration.openshift.io/machine-os-config";

// The values of desiredDrain and lastAppliedDrain begin with one of these prefixes, and the name of a config follows.
inline constexpr std::string_view kDrainPrefix = "drain-";
inline constexpr std::string_view kUncordonPrefix = "uncordon-";
inline constexpr std::string_view kSingleReplicaTopology = "SingleReplica";

// The states that an agent reports for its node.
inline constexpr std::string_view kStateWorking = "Working";
inline constexpr std::string_view kStateDone = "Done";
inline constexpr std::string_view kStateDegraded = "Degraded";
inline constexpr std::string_view kStateRebooting = "Rebooting";
inline constexpr std::string_view kStateUnreconcilable = "Unreconcilable";

// The taint of a node that does not have its pool's target yet, so that the scheduler prefers other nodes.
inline constexpr std::string_view kUpdateInProgressTaint = "UpdateInProgress";
inline constexpr std::string_view kPreferNoSchedule = "PreferNoSchedule";

}  // namespace pintle::api
