// SPDX-License-Identifier: Apache-2.0
#pragma once

// Checks and compiles the RolloutPolicies, and writes their statuses.
//
// The memory of a rollout is in the status of its policy.  A pass that changes the memory updates no node.  So the
// status is written first, and the next look, which has the answer to this write, updates nodes.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/time_zone_files.h"
#include "controller/announcer.h"
#include "controller/cluster.h"
#include "controller/operator_writes.h"
#include "controller/paused_difference.h"
#include "controller/pool_members.h"
#include "controller/pool_policies.h"
#include "controller/view.h"
#include "event/loop.h"
#include "event/watches.h"
#include "gates/gate_checks.h"
#include "kube/client.h"

namespace pintle::controller {

class PolicyWatch {
 public:
  using Listener = OperatorWrites::Listener;

  // The loop, the clock, the cluster and the announcer must outlive this object.
  PolicyWatch(event::Loop& loop, kube::Client client, const Clock& clock, Cluster& cluster, Announcer& announcer,
              net::Peers gate_peers, Listener listener);
  PolicyWatch(const PolicyWatch&) = delete;
  PolicyWatch& operator=(const PolicyWatch&) = delete;

  // Checks the policies that are new or have changed, and chooses the policy of each pool.
  void Look(const View& view);
  // Returns the names of the configs that ForPass() has to compare.  A pool has such configs if the windows of its
  // policy apply only to changes that drain or reboot nodes, and are closed now.
  std::set<std::string> ConfigsToCompare(const View& view, const PoolMembers& members) const;
  // Returns the policies for a pass.  They refer to objects of the view, and are valid until the next call of this
  // function or of Look().
  const PoolPolicies& ForPass(const View& view, const PoolMembers& members, const WholeConfigs& configs);

  // Writes the statuses that differ, and emits events about the changes.  A status in which only counts and messages
  // differ may be written by a later call.
  void Write(const View& view, const std::vector<PolicyDecision>& decisions);

  // Stops all writes and all checks of gates.
  void Stop();

 private:
  struct Checked {
    std::string version;                 // The UID and the generation of the policy that was checked.
    std::optional<pool::Policy> policy;  // The compiled policy; unset if it cannot be used.
    std::string why_unusable;
  };

  api::RolloutPolicyStatus StatusFor(const api::RolloutPolicy& policy, const View& view,
                                     const std::vector<PolicyDecision>& decisions) const;
  void WriteStatus(const api::RolloutPolicy& policy, api::RolloutPolicyStatus status,
                   const std::vector<PolicyDecision>& decisions);
  void Announce(const std::map<std::string, std::vector<pool::RolloutNews>>& news);
  // Returns whether the status may be written by a later call of Write().
  bool MayWait(const api::RolloutPolicy& policy, const api::RolloutPolicyStatus& status);

  kube::Client client_;
  const Clock& clock_;
  Cluster& cluster_;
  Announcer& announcer_;
  Listener listener_;
  TimeZoneFiles zones_;
  std::map<std::string, Checked> checked_;                          // The key is the policy.
  std::map<std::string, pool::PolicyChoice, std::less<>> choices_;  // The key is a pool that has a policy.
  // For each pool, the nodes that the change to the pool's target would neither drain nor reboot.
  std::map<std::string, pool::NodeNames> undisruptive_;
  PoolPolicies for_pass_;
  std::map<std::string, MonotonicTime> written_;  // The time of the latest write of a policy's status.
  gates::GateChecks gates_;
  OperatorWrites writes_;
  event::WallTimer next_;  // Fires when a decision may change although nothing in the cluster does.
};

}  // namespace pintle::controller
