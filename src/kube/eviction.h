// SPDX-License-Identifier: Apache-2.0
#pragma once

// Requests the eviction of a pod, as `kubectl drain` does.

#include <functional>
#include <memory>
#include <string>
#include <variant>

#include "kube/attempts.h"
#include "kube/resource_kind.h"

namespace pintle::kube {

enum class Departure {
  kGoing,  // The server evicts the pod, or would evict it in a dry run.
  kGone,   // The pod has ended; another pod may have its name.
};

// A disruption budget refuses the eviction, which is not an error.
struct KeptByBudget {
  std::string why;  // "The disruption budget web needs 1 healthy pods and has 1 currently"
};

using Eviction = std::variant<Departure, KeptByBudget>;

// kDryRun asks the server whether it would evict the pod, and evicts nothing.
enum class EvictionMode { kEvict, kDryRun };

struct EvictionRequest {
  std::string path;
  ObjectName pod;
  std::string uid;  // Empty for any pod of that name.
  EvictionMode mode = EvictionMode::kEvict;
  Patience patience;
  // Gets each failure except a budget's refusal, right before `done` gets the Error or kGone.
  std::function<void(const Failure& failure)> failed = {};
};

Call EvictPod(std::shared_ptr<Transport> transport, EvictionRequest request,
              std::function<void(Result<Eviction>)> done);

}  // namespace pintle::kube
