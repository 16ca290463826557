// SPDX-License-Identifier: Apache-2.0
#pragma once

// The pods of a Deployment or a DaemonSet: how to select them, and the nodes that they are for.

#include <string>

#include "controller/operator_kinds.h"

namespace pintle::controller {

// A pod whose spec is kept as JSON.
struct WholePod : WholeObject {};

// Returns the label selector of the owner's pods as the API server's lists expect it, such as "app=web,tier in (a,b)".
// Returns "" if the selector has no condition, or one that is unknown: then the pods cannot be selected.
std::string PodSelectorOf(const WholeObject& owner);

// If the scheduler has not placed a pod yet, and the pod may run on one node only, returns this node; otherwise "".
// The pods of a DaemonSet have an affinity to one node by its name.
std::string NodeAwaitedBy(const WholePod& pod);

// Returns whether the pod reports that it is ready, and is not being deleted.
bool IsReady(const WholePod& pod);

}  // namespace pintle::controller

namespace pintle::kube {

template <>
inline constexpr ResourceKind kResourceKind<controller::WholePod> = kResourceKind<api::Pod>;

}  // namespace pintle::kube
