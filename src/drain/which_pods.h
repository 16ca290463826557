// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which pods leave a node that is drained: those that `kubectl drain --force --ignore-daemonsets
// --delete-emptydir-data` would evict.

#include <vector>

#include "api/pod.h"

namespace pintle::drain {

enum class Fate {
  kGoes,
  kStaysForDaemonSet,  // Its set would start it anew, cordoned or not.
  kStaysAsMirror,      // It only shows what the kubelet runs from a file.
};

// Pods that nobody starts anew go too, and so do those that would lose the data of an emptyDir.
Fate FateOf(const api::Pod& pod);
inline bool Goes(const api::Pod& pod) { return FateOf(pod) == Fate::kGoes; }

// It has ended by itself, and disrupts nothing when it goes.
bool IsFinished(const api::Pod& pod);
// It has been asked to end.
bool IsLeaving(const api::Pod& pod);
bool IsReady(const api::Pod& pod);

}  // namespace pintle::drain
