// SPDX-License-Identifier: Apache-2.0
#pragma once

// The owners that make a new pod for each that goes: ReplicaSets, StatefulSets and ReplicationControllers.

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

struct Maker {
  std::string kind;
  kube::ObjectName name;
  std::string uid;

  auto operator<=>(const Maker&) const = default;
};

// Returns nullopt if the pod's owner is none of these.
std::optional<Maker> MakerOf(const api::Pod& pod);

// Asks how many replicas the maker is to have.
kube::Call AskHowManyPods(kube::Client& client, const Maker& maker, std::function<void(Result<std::int32_t>)> done);

}  // namespace pintle::drain
