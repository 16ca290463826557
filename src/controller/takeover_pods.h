// SPDX-License-Identifier: Apache-2.0
#pragma once

// Ends the pods of the Machine Config Operator's Deployments and of its Ignition server during a takeover, and lets
// them begin again.
//
// A Deployment is scaled down.  A DaemonSet gets a node selector that matches no node.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "controller/operator_kinds.h"
#include "controller/takeover_state.h"
#include "json/value.h"

namespace pintle::controller {

// Returns the whole number in a member of an object, or `fallback` if there is none.
std::int64_t NumberIn(const json::Value& object, std::string_view key, std::int64_t fallback = 0);

// Returns the number of replicas that a Deployment is to have, or null if there is no Deployment.
json::Value Replicas(const std::optional<WholeDeployment>& deployment);
// Returns whether a Deployment is to have no replicas and has none, or does not exist.
bool IsStopped(const std::optional<WholeDeployment>& deployment);
// Returns the number of replicas before a takeover scaled the Deployment down, or null if no takeover has done that.
json::Value ScaledDownFrom(const std::optional<WholeDeployment>& deployment);
// Returns the write that sets only the number of replicas.
TakeoverWrite ScaleOf(const WholeDeployment& deployment, const json::Value& replicas);
// Scales down a Deployment of the operator, and waits until its pods have ended.
TakeoverStep StopStep(const char* name, const std::optional<WholeDeployment>& deployment, const TakeoverState& state);
// Gives a Deployment back the number of replicas in the record.  `before` is null if the record does not have it.
TakeoverStep ScaleBackStep(const char* name, const std::optional<WholeDeployment>& deployment,
                           const json::Value& before);

// The key of a label that no node has.  With it in its node selector, a DaemonSet has no pods.
inline constexpr const char* kNoNodeSelector = "pintle.io/taken-over";
// Returns the node selector of a DaemonSet, or null if it has none.
const json::Value& NodeSelectorOf(const WholeDaemonSet& daemon_set);
// Returns the write that sets the node selector; null removes it.
TakeoverWrite NodeSelectorWrite(const WholeDaemonSet& daemon_set, const json::Value& selector);

// Returns whether a Deployment or a DaemonSet of the operator should have no pods: it has no replicas, or it has the
// node selector of a takeover, which matches no node.
bool IsToHaveNoPods(const WholeObject& owner);
// Returns the text TakeoverStep::waits_for of a step that ends the pods of a Deployment or of a DaemonSet.
std::string EndOfPodsText(std::string_view kind, const std::string& name, const TakeoverState& state);

}  // namespace pintle::controller
