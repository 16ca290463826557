// SPDX-License-Identifier: Apache-2.0
#pragma once

// Maintains the set of pools and of their rendered configs: creates built-in pools that are missing, and removes
// rendered configs that nobody needs (garbage.h).
//
// Each creation, patch or removal is an action, which is not begun again while it is under way or during its back-off.

#include <cstddef>
#include <functional>
#include <map>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "controller/cluster.h"
#include "controller/view.h"
#include "controller/write_backoff.h"
#include "kube/client.h"
#include "pool/candidates.h"

namespace pintle::controller {

class PoolUpkeep {
 public:
  struct Listener {
    std::function<void()> done;  // An action has ended, with success or not.
    std::function<void(MonotonicTime when)> retry_at;
    std::function<void(const std::string& action, const Error& error)> trouble;
  };

  // `kept_configs` is the number of unneeded rendered configs to keep for each pool.  The clock and the cluster must
  // outlive this object.
  PoolUpkeep(kube::Client client, const Clock& clock, Cluster& cluster, std::size_t kept_configs, Listener listener);
  PoolUpkeep(const PoolUpkeep&) = delete;
  PoolUpkeep& operator=(const PoolUpkeep&) = delete;

  // Creates the built-in pools that are missing.
  void MakePools(const View& view);
  // Protects the rendered configs of pools that Pintle begins to manage from CollectGarbage() for a day.
  void KeepRenderedConfigs(const View& view);
  // Removes rendered configs that nobody needs, except those of the pools in `rendering`: the renderer may have created
  // or found such a config, and be about to make it the pool's target.
  void CollectGarbage(const View& view, const pool::PoolNames& rendering);

  // Stops all actions and forgets their back-offs.
  void Stop();

 private:
  // Returns whether the action may begin: it is not under way, and its last run was long enough ago.
  bool MayBegin(const std::string& action);
  // Must be called when an action has ended.  `error` is nullptr on success.
  void End(const std::string& action, const Error* error);

  kube::Client client_;
  const Clock& clock_;
  Cluster& cluster_;
  const std::size_t kept_configs_;
  const Listener listener_;
  WriteBackoff backoff_;
  std::map<std::string, kube::Call> calls_;  // The key is the action.
};

}  // namespace pintle::controller
