// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides which pods leave a node that is drained: those that `kubectl drain --force --ignore-daemonsets
// --delete-emptydir-data` would evict, except for pods of a DaemonSet that was deleted.

#include <vector>

#include "api/pod.h"

namespace pintle::drain {

enum class Fate {
  kGoes,
  kStaysForDaemonSet,  // The pod's DaemonSet, if it exists, would start the pod again, even on a cordoned node.
  kStaysAsMirror,      // The pod mirrors a pod that the kubelet runs from a file.
};

// Returns kGoes also for pods that no owner will recreate, and for pods that lose the data of an emptyDir.
Fate FateOf(const api::Pod& pod);
inline bool Goes(const api::Pod& pod) { return FateOf(pod) == Fate::kGoes; }

// Returns whether the pod has ended by itself, so that its eviction disrupts nothing.
bool IsFinished(const api::Pod& pod);
// Returns whether the pod is terminating.
bool IsTerminating(const api::Pod& pod);
// Returns whether the pod's condition Ready is True.
bool IsReady(const api::Pod& pod);

}  // namespace pintle::drain
