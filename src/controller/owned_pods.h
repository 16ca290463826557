// SPDX-License-Identifier: Apache-2.0
#pragma once

// The pods of a Deployment or a DaemonSet: how to select them, and the nodes that they are for.

#include <string>

#include "controller/operator_kinds.h"

namespace pintle::controller {

// A pod whose spec is kept as JSON.
struct WholePod : WholeObject {};

// Returns the label selector of the owner's pods as the API server's lists expect it, such as "app=web,tier in (a,b)".
// Returns "" if the selector has no condition, or a condition with an unknown operator.  Then the pods must not be
// listed: a list without a selector would contain the pods of all owners.
std::string PodSelectorOf(const WholeObject& owner);

// Returns the node on which the scheduler has yet to place the pod.  Returns "" if the pod has been placed, or if it
// may run on several nodes.  A pod of a DaemonSet may run on one node only: it has an affinity to the name of this
// node.
std::string NodeAwaitedBy(const WholePod& pod);

// Returns whether the pod reports that it is ready, and is not being deleted.
bool IsReady(const WholePod& pod);

}  // namespace pintle::controller

namespace pintle::kube {

template <>
inline constexpr ResourceKind kResourceKind<controller::WholePod> = kResourceKind<api::Pod>;

}  // namespace pintle::kube
