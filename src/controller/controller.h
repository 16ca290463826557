// SPDX-License-Identifier: Apache-2.0
#pragma once

// The controller: it renders, tells nodes and writes statuses while it leads, and looks on while it does not.
//
// It goes by what is, not by what happened: whatever changes in the cluster, it looks at all of it soon, decides by
// pure passes, and writes what they say.  It looks again when that is written.

#include <functional>
#include <map>
#include <memory>
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
#include "controller/drain_watch.h"
#include "controller/metrics.h"
#include "controller/pause_watch.h"
#include "controller/render_pass.h"
#include "controller/renderer.h"
#include "controller/rollout_pass.h"
#include "controller/write_backoff.h"
#include "controller/writer.h"
#include "drain/forecaster.h"
#include "event/watches.h"
#include "kube/client.h"
#include "kube/lease.h"

namespace pintle::controller {

struct ControllerSettings {
  std::string namespace_name = "openshift-machine-config-operator";
  std::string identity;  // Of this replica, and of this start of it.
  Versions versions = {};
  pool::Features features = {};
  std::size_t kept_configs = 10;  // Rendered ones that nobody needs, for each pool.
  kube::LeaseTimes lease = {};
};

class Controller {
 public:
  Controller(event::Loop& loop, kube::Client client, const Clock& clock, ControllerSettings settings);
  ~Controller();
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  // Whether its copy of the cluster is complete.
  bool is_ready() const { return cluster_.is_ready(); }
  bool is_leading() const { return is_leading_; }
  const Cluster& cluster() const { return cluster_; }

  // As things are at this moment.
  Metrics Count() const;

  // Called whenever the copy of the cluster may have changed, also on replicas that do not lead, and whenever this
  // begins to lead or no longer does.
  void OnChange(std::function<void()> changed) { on_change_ = std::move(changed); }

  // Stops writing, and gives the lease back so that another replica goes on at once.
  void Release(std::function<void()> done);

 private:
  void Won();
  void Lost();
  // Another replica may have written until now what the mirrors do not show yet.
  void ReadAfresh();
  void ReadPoolsAfresh();
  void ReadNodesAfresh();
  void ReadAfreshLater(const std::string& what, const Error& error);
  bool IsReadyToReadAfresh() const;
  void StopReadingAfresh();
  void Lead();

  void LookSoon();
  void LookLater();
  void LookAt(MonotonicTime when);
  void Look();
  void Roll(View view);
  // While nodes, or what decides about them, cannot be read.
  void SayBlind(const View& view);
  // Pools that something is under way for.
  pool::NodeNames LeftAlone() const;
  // Those of the nodes that are told something which wait until it is known whether they can be drained.
  pool::NodeNames AwaitDrains(const Changes& changes, const View& view, std::set<std::string> wanted);
  api::Time Now() const;
  void MakePools(const View& view);
  void KeepRenderedConfigs(const View& view);
  void CollectGarbage(const View& view);
  // Of a node that no pool has, no pool says anything.
  void TellOfStrays(const View& view, const Rosters& rosters);
  // Whether it is not under way and has not just been done.
  bool MayBegin(const std::string& what);
  // nullptr: well.
  void Ended(const std::string& what, const Error* error);
  void TellOfHopeless(const std::string& node, const std::string& pool, const std::string& why);
  void TellOfMaster(const api::Node& before, const api::Node& now);
  void Complain(const std::string& what, const Error& error);

  event::Loop& loop_;
  kube::Client client_;
  const Clock& clock_;
  const ControllerSettings settings_;
  bool is_leading_ = false;
  Announcer node_events_;
  Announcer render_events_;
  event::Timer soon_;
  event::Timer later_;
  MonotonicTime later_is_ = {};
  event::Timer quiet_;
  Cluster cluster_;
  Renderer renderer_;
  Writer writer_;
  ConfigLibrary library_;
  PauseWatch pauses_;
  event::WallTimer next_word_;
  event::Timer afresh_again_;
  kube::Backoff afresh_backoff_{{}, kube::SystemRandom()};
  bool awaits_list_ = false;  // Of a mirror, before that kind is read afresh.
  int failures_afresh_ = 0;
  bool knows_pools_ = false;
  bool knows_nodes_ = false;
  std::string why_afresh_;  // The server refuses it.
  drain::Forecaster forecaster_;
  DrainForecasts forecasts_;
  std::unique_ptr<DrainController> drains_;  // While this leads.
  DrainWatch drain_watch_;
  std::set<std::string> told_configs_;  // That nodes which are about to be told something come from and go to.
  std::set<std::string> strays_;        // Nodes that are in no pool, and were told of.
  // When a part last did something to a pool: by the name of the part in metrics, and by pool.
  std::map<std::string, std::map<std::string, WallTime>> synced_;
  std::function<void()> on_change_ = [] {};
  std::map<std::string, kube::Call> calls_;  // That make pools and remove configs, by what they do.
  WriteBackoff backoff_;                     // Of these.
  Complaints complaints_;
  kube::Call afresh_;
  kube::Lease lease_;
};

}  // namespace pintle::controller
