// SPDX-License-Identifier: Apache-2.0
#pragma once

// The owners that replace each evicted pod: ReplicaSets, StatefulSets and ReplicationControllers.

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "api/pod.h"
#include "base/result.h"
#include "kube/call.h"
#include "kube/resource_kind.h"

namespace pintle::kube {
class Client;
}  // namespace pintle::kube

namespace pintle::drain {

struct PodOwner {
  std::string kind;
  kube::ObjectName name;
  std::string uid;

  auto operator<=>(const PodOwner&) const = default;
};

// Returns nullopt if the pod has no owner of these kinds.
std::optional<PodOwner> PodOwnerOf(const api::Pod& pod);

// Reads how many replicas the owner is to have.  The result is an error if another object has the owner's name by now.
kube::Call GetReplicas(kube::Client& client, const PodOwner& owner, std::function<void(Result<std::int32_t>)> done);

}  // namespace pintle::drain
