// SPDX-License-Identifier: Apache-2.0
#pragma once

// The controller.  The replica that leads renders, rolls out and writes statuses.  The other replicas only mirror the
// cluster.
//
// The controller is level-triggered: soon after a change in the cluster, it looks at the whole cluster, decides by pure
// passes, and writes the changes that they return.  After the writes, it looks again.

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "controller/announcer.h"
#include "controller/cluster.h"
#include "controller/complaints.h"
#include "controller/config_library.h"
#include "controller/drain_controller.h"
#include "controller/drain_forecasts.h"
#include "controller/drain_needs.h"
#include "controller/drain_watch.h"
#include "controller/fresh_reads.h"
#include "controller/generator.h"
#include "controller/metrics.h"
#include "controller/notifier.h"
#include "controller/operator_reconciler.h"
#include "controller/operator_reports.h"
#include "controller/pause_watch.h"
#include "controller/policy_watch.h"
#include "controller/pool_upkeep.h"
#include "controller/render_pass.h"
#include "controller/renderer.h"
#include "controller/rollout_pass.h"
#include "controller/writer.h"
#include "drain/forecaster.h"
#include "event/watches.h"
#include "kube/client.h"
#include "kube/lease.h"

namespace pintle::controller {

// The prefix of the identities of all replicas, on every host.
inline constexpr const char* kIdentityPrefix = "pintle-controller_";
// The holder that a takeover writes into a lease so that one of these replicas takes the lease.
inline constexpr const char* kTakeoverOffer = "pintle-takeover-offer";

struct ControllerSettings {
  std::string namespace_name = "openshift-machine-config-operator";
  std::string identity;  // Differs between replicas, and between the starts of a replica.
  Versions versions = {};
  pool::Features features = {};
  std::size_t kept_configs = 10;  // Unneeded rendered configs to keep, for each pool.
  std::string templates = {};     // The folder of templates; empty if no configs are generated.
  bool is_operator = false;       // The leader acts as OpenShift's operator, if the cluster has the operator's kinds.
  std::string release = {};  // The release that the ControllerConfig is made for; if empty, the release in images.json.
  std::string token_keys_file = {};             // The keys for the tokens of new machines; empty if they need no token.
  net::Peers gate_peers = net::Peers::kRemote;  // The servers that gates of RolloutPolicies may ask.
  std::optional<WebhookSettings> webhook = {};  // If this is set, the leader sends notices to the webhook.
  kube::LeaseTimes lease = {};
};

class Controller {
 public:
  Controller(event::Loop& loop, kube::Client client, const Clock& clock, ControllerSettings settings);
  ~Controller();
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  // Returns whether the copy of the cluster is complete.
  bool is_ready() const { return cluster_.is_ready(); }
  bool is_leading() const { return is_leading_; }
  const Cluster& cluster() const { return cluster_; }

  // Returns the values of the metrics at this moment.
  Metrics CurrentMetrics() const;

  // `changed` is called whenever the copy of the cluster may have changed, also on replicas that do not lead.  It is
  // also called when the lease has another holder, and when this replica begins or ceases to lead.
  void OnChange(std::function<void()> changed) { on_change_ = std::move(changed); }

  // Stops writing and releases the lease, so that another replica takes over at once.
  void Release(std::function<void()> done);

 private:
  // Called when this replica gets the lease.  Lead() is called when the pools have been read afresh.
  void PrepareToLead();
  void Lead();
  void StopLeading();
  // These two are called when this replica begins and ceases to act as OpenShift's operator.
  void ActAsOperator();
  void StopActingAsOperator();
  void ReleaseOperatorLease();
  // The part of a look that acts as the operator.
  void LookAsOperator(const View& view);

  void LookSoon();
  void LookLater();
  void ScheduleLook(MonotonicTime when);
  void Look();
  // The part of a look that updates nodes and writes statuses.
  void Roll(View view);
  // Schedules a look for the next time at which the state of a pause changes by itself.
  void ScheduleNextPauseChange(const View& view, WallTime now);
  // If the pause policy of a pool lets the waiting change pass, the pool is treated as if it were not paused.  Replaces
  // such pools in the view with unpaused copies, and returns the copies.
  std::deque<api::MachineConfigPool> UnpausePassingPools(View& view) const;
  // Reports in the pools' statuses that nodes, or objects that decide about updates, cannot be read.
  void ReportUnread(const View& view);
  // Reports in the pools' statuses that objects from which configs are rendered cannot be read.
  void ReportUnreadInputs();
  void WriteWhyUnread(const View& view, const std::string& why);
  // Returns the pools for which something is being rendered or written.
  pool::PoolNames BusyPools() const;
  // Returns the nodes that must not be updated before it is known whether they can be drained.  `wanted_configs` are
  // the configs that the library has to keep for other decisions.
  pool::NodeNames AwaitDrains(const Changes& changes, const View& view, std::set<std::string> wanted_configs);
  api::Time Now() const;
  // Returns the values of the metric mcc_sub_controller_state.
  std::vector<SubControllerState> SubControllerStates(const View& view) const;
  // Reports nodes that are in no pool, since no pool's status reports them.
  void ReportStrays(const View& view, const PoolMembers& members);
  void ReportHopelessDrain(const std::string& node, const std::string& pool, const std::string& why);
  void ReportMasterChange(const api::Node& before, const api::Node& now);
  // Logs that the action has failed, unless this was logged recently.
  void Complain(const std::string& action, const Error& error);

  event::Loop& loop_;
  kube::Client client_;
  const Clock& clock_;
  const ControllerSettings settings_;
  const WallTime began_;
  Complaints complaints_;  // Other members may report errors while they are constructed.
  bool is_leading_ = false;
  Announcer node_events_;
  Announcer render_events_;
  Announcer kubelet_events_;
  Announcer operator_events_;
  event::Timer soon_;   // Triggers a look after a change.
  event::Timer later_;  // Triggers a look at the time `later_due_`, even if nothing changes.
  MonotonicTime later_due_ = {};
  event::Timer release_memory_;
  Cluster cluster_;
  std::unique_ptr<Generator> generator_;            // Exists if there is a folder of templates.
  std::unique_ptr<OperatorReports> reports_;        // Exists if `is_operator` is set.
  std::unique_ptr<OperatorReconciler> reconciler_;  // Exists while this replica acts as the operator.
  Renderer renderer_;
  Writer writer_;
  ConfigLibrary library_;
  PauseWatch pauses_;
  PolicyWatch policies_;
  std::unique_ptr<Notifier> notifier_;  // Exists if there is a webhook.
  event::WallTimer next_pause_change_;
  FreshReads fresh_reads_;
  drain::Forecaster forecaster_;
  DrainForecasts forecasts_;
  std::unique_ptr<DrainController> drains_;  // Exists while this replica leads.
  DrainWatch drain_watch_;
  DrainNeeds drain_needs_;
  std::set<std::string> strays_;  // The nodes without a pool that have been reported.
  // The last time that a part did something to a pool.  The keys are the name of the part in metrics, and the pool.
  std::map<std::string, std::map<std::string, WallTime>> synced_;
  std::function<void()> on_change_ = [] {};
  PoolUpkeep upkeep_;
  kube::Lease lease_;
  std::unique_ptr<kube::Lease> operator_lease_;  // Exists while this replica leads, if `is_operator` is set.
  std::unique_ptr<kube::Lease> released_lease_;  // The operator's lease, while its release after leading is under way.
};

}  // namespace pintle::controller
