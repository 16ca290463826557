// SPDX-License-Identifier: Apache-2.0
#pragma once

// Asking for a pod to end, as `kubectl drain` does.

#include <functional>
#include <memory>
#include <string>
#include <variant>

#include "kube/attempts.h"
#include "kube/resource_kind.h"

namespace pintle::kube {

enum class Departure {
  kGoing,  // The pod will end.
  kGone,   // It is not there any more; what has its name is another one.
};

// A disruption budget that keeps a pod is no error.
struct Kept {
  std::string why;  // "The disruption budget web needs 1 healthy pods and has 1 currently"
};

using Eviction = std::variant<Departure, Kept>;

// Whether it is meant, or the server is only to say what it would do.
enum class Earnest { kYes, kDryRun };

struct EvictionRequest {
  std::string path;
  ObjectName pod;
  std::string uid;  // Empty: whichever pod has the name.
  Earnest earnest = Earnest::kYes;
  Patience patience;
  // Gets all that is neither a yes nor a budget's no, right before the Error, or that the pod is gone.
  std::function<void(const Failure& failure)> failed = {};
};

Call EvictPod(std::shared_ptr<Transport> transport, EvictionRequest request,
              std::function<void(Result<Eviction>)> done);

}  // namespace pintle::kube
