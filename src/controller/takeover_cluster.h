// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads and writes the objects of a takeover, one request after the other.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "controller/takeover_steps.h"
#include "event/loop.h"
#include "kube/client.h"

namespace pintle::controller {

// Selects between a real write and a dry run of the API server.
enum class WriteMode { kReally, kDryRun };

class TakeoverCluster {
 public:
  // The loop must outlive this object, and must not run while a function of it is called.
  TakeoverCluster(event::Loop& loop, kube::Client client, TakeoverSettings settings)
      : loop_(loop), client_(std::move(client)), settings_(std::move(settings)) {}

  Result<TakeoverState> Read();
  // Returns what the cluster uses and Pintle does not have, with the objects.
  Result<std::vector<std::string>> Unsupported();
  // Somebody else may have changed the object first: then the error is kConflict, and the step is decided again.
  Result<> Write(const TakeoverWrite& write, WriteMode mode);
  // Lets time pass.
  Result<> Wait(std::chrono::milliseconds time);

 private:
  template <typename T>
  Result<std::optional<T>> ReadOne(const kube::ObjectName& name);
  // Returns no objects if the cluster does not have the kind.
  template <typename T>
  Result<std::vector<T>> ReadAll();

  event::Loop& loop_;
  kube::Client client_;
  const TakeoverSettings settings_;
};

}  // namespace pintle::controller
