// SPDX-License-Identifier: Apache-2.0
#pragma once

// Simulates a cluster in which a takeover or its undo makes its steps.

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "controller/lease_sightings.h"
#include "controller/takeover_pods.h"
#include "controller/takeover_server.h"
#include "controller/takeover_steps.h"
#include "json/fields.h"
#include "json/parse.h"
#include "kube/candidacy.h"
#include "support/expect.h"

namespace pintle::controller {

// A candidate for a lease with the times of OpenShift's own operators.
struct SimulatedCandidate {
  std::string identity;
  std::string offer = {};  // The holder who leaves a lease to this candidate.
  bool is_running = true;
  kube::Candidacy candidacy{identity, {}, offer};
  std::chrono::seconds next = {};
  std::chrono::seconds acts_until = {};
};

// A cluster whose objects are JSON, as in the API server, and whose holders of leases act.
class SimulatedTakeover {
 public:
  static constexpr const char* kNamespace = "openshift-machine-config-operator";
  static constexpr const char* kRecord = "ConfigMap/pintle-takeover";

  SimulatedTakeover() {
    Put("ClusterVersion/version", R"({"spec": {"clusterID": "c"}})");
    Put("Deployment/machine-config-operator", R"({"spec": {"replicas": 1}, "status": {"replicas": 1}})");
    Put("Deployment/machine-config-controller", R"({"spec": {"replicas": 1}, "status": {"replicas": 1}})");
    Put("DaemonSet/machine-config-server", R"({"spec": {"template": {"spec": {"nodeSelector": {"a": "b"}}}},
        "status": {"currentNumberScheduled": 3}})");
    Put("DaemonSet/machine-config-daemon", R"({"spec": {"updateStrategy": {"type": "RollingUpdate"},
        "template": {"spec": {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
        {"nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "Exists"}]}, {}]}}}}}}})");
    for (const char* node : {"a", "b", "c"}) {
      auto& metadata = Put(std::string("Node/") + node, "{}");
      metadata["labels"] = {{"kubernetes.io/os", "linux"}};
      metadata["annotations"] = {{"machineconfiguration.openshift.io/currentConfig", "x"},
                                 {"machineconfiguration.openshift.io/desiredConfig", "x"},
                                 {"machineconfiguration.openshift.io/state", "Done"}};
      // One of the nodes has no agent.
      if (node != std::string("c")) metadata["annotations"][kAgentReport] = "standby";
    }
    Put("Deployment/pintle-controller", R"({"spec": {"replicas": 2, "template": {"spec": {"containers": [
        {"ports": [{"name": "metrics", "containerPort": 8797}, {"name": "ignition", "containerPort": 22623}]}]}}},
        "status": {"replicas": 2, "readyReplicas": 2, "updatedReplicas": 2}})");
    for (const char* lease : {"machine-config", "machine-config-controller"}) {
      const std::string deployment = std::string(lease) == "machine-config" ? "machine-config-operator" : lease;
      Put(std::string("Lease/") + lease, R"({"spec": {}})");
      old_[lease] = {deployment, SimulatedCandidate{.identity = deployment + "-x_1"}};
      ours_[lease] = SimulatedCandidate{.identity = "pintle-controller_y_1", .offer = "pintle-takeover-offer"};
    }
    Put("MachineConfigPool/master", "{}");
    Put("MachineConfigPool/worker", "{}")["annotations"] = {{"of", "somebody"}};
    Put("ControllerConfig/machine-config-controller", "{}");
    Put("ConfigMap/kubeconfig-data", "{}");
    for (const char* pool : {"MachineConfigPool/master", "MachineConfigPool/worker"}) {
      objects_[pool]["status"] =
          nlohmann::json::parse(R"({"conditions": [{"type": "Updated", "status": "True"}, {"type": "Degraded"}]})");
    }
    for (int i = 0; i < 300; ++i) Pass();
  }

  TakeoverState State() const {
    TakeoverState state;
    ReadObject("ClusterVersion/version", state.cluster_version);
    ReadObject("Deployment/machine-config-operator", state.operators);
    ReadObject("Deployment/machine-config-controller", state.controller);
    ReadObject("DaemonSet/machine-config-server", state.server);
    ReadObject("DaemonSet/machine-config-daemon", state.daemon);
    ReadObject("Deployment/pintle-controller", state.ours);
    ReadObject("Lease/machine-config", state.operator_lease);
    ReadObject("Lease/machine-config-controller", state.controller_lease);
    ReadObject("ConfigMap/pintle-takeover", state.record);
    if (!lingering_.empty() && IsToHaveNoPods(*state.controller)) {
      state.remaining_pods["machine-config-controller"] = lingering_;
    }
    if (AreNodesNeeded(state, settings_)) {
      for (const char* name : {"a", "b", "c"}) {
        std::optional<api::Node> node;
        ReadObject(std::string("Node/") + name, node);
        state.nodes.push_back(*node);
      }
      state.nodes_with_daemon = daemons_;
    }
    if (AreAnnotationsNeeded(state)) {
      for (const auto& [name, object] : objects_) {
        TakeoverObject kind = TakeoverObject::kControllerConfig;
        if (name.starts_with("MachineConfigPool/")) kind = TakeoverObject::kPool;
        if (name == "ConfigMap/kubeconfig-data") kind = TakeoverObject::kKubeconfigData;
        if (kind == TakeoverObject::kControllerConfig && !name.starts_with("ControllerConfig/")) continue;
        std::optional<WholeObject> read;
        ReadObject(name, read);
        std::vector<std::string> conditions;
        for (const json::Value& condition : read->status["conditions"]) {
          conditions.push_back(condition["type"].text());
        }
        state.annotated.push_back({kind, std::move(read->metadata), std::move(conditions)});
      }
    }
    if (settings_.with_server && HasServerEnded(state)) {
      state.server_replicas = {{.pod = "a", .answers = true}, {.pod = "b", .answers = serves_}};
    }
    return state;
  }

  // Lets a second pass: holders renew, candidates take leases, pods start and end.
  void Pass() {
    now_ += std::chrono::seconds(1);
    for (auto& [lease, old] : old_) {
      const auto deployment = objects_.find("Deployment/" + old.first);
      old.second.is_running = deployment != objects_.end() && deployment->second["spec"]["replicas"] == 1;
      Act(lease, old.second);
    }
    // Our replicas are candidates for the operator's lease while they lead.
    const bool is_wanted = objects_["Deployment/pintle-controller"]["spec"]["replicas"] != 0 || are_elsewhere_;
    const bool run = is_wanted && !are_stuck_;
    for (auto& [lease, ours] : ours_) {
      // A replica that was killed releases nothing.
      if (are_killed_) {
        ours.is_running = false;
        continue;
      }
      ours.is_running = run && (lease == "machine-config-controller" || Acts(ours_["machine-config-controller"]));
      Act(lease, ours);
    }
    if (Acts(ours_["machine-config-controller"])) AnnotateAsOurs();
    for (auto& [name, object] : objects_) {
      if (name.starts_with("Deployment/")) object["status"]["replicas"] = object["spec"]["replicas"];
      if (name == "Deployment/pintle-controller") {
        object["status"]["readyReplicas"] = are_ready_ ? object["spec"]["replicas"] : nlohmann::json(0);
      }
      if (name.starts_with("Node/")) ActOn(name.substr(5), object["metadata"]);
      if (name != "DaemonSet/machine-config-server") continue;
      const bool is_nowhere = object["spec"]["template"]["spec"]["nodeSelector"].contains("pintle.io/taken-over");
      object["status"]["currentNumberScheduled"] = is_nowhere ? 0 : 3;
      object["status"]["desiredNumberScheduled"] = is_nowhere ? 0 : 3;
      object["status"]["numberReady"] = is_nowhere ? 0 : ready_servers_;
    }
    for (const auto& [lease, old] : old_) {
      ASSERT_FALSE(Acts(old.second) && Acts(ours_[lease])) << "two act by " << lease;
    }
  }

  void Make(const TakeoverWrite& write) {
    writes_.push_back(write.in_words);
    const std::string key = KeyOf(write);
    if (write.is_creation) {
      objects_[key] = nlohmann::json::parse(json::ToText(write.patch));
    } else if (write.patch.is_null()) {
      ASSERT_EQ(objects_[key]["metadata"]["resourceVersion"], write.version);
      objects_.erase(key);
    } else {
      objects_[key] = objects_[key].patch(nlohmann::json::parse(json::ToText(write.patch)));
    }
    if (objects_.contains(key)) objects_[key]["metadata"]["resourceVersion"] = std::to_string(++version_);
  }

  // Makes steps until all are done.  Gives up after `writes` writes, and after kPatience seconds.
  static constexpr int kPatience = 1200;
  using Steps = std::vector<TakeoverStep> (*)(const TakeoverState&, const TakeoverSettings&, WallTime);
  bool Run(Steps steps_of, std::size_t writes = 1000) {
    LeaseSightings operator_sightings;
    LeaseSightings controller_sightings;
    for (int i = 0; i < kPatience; ++i) {
      TakeoverState state = State();
      state.operator_sight = operator_sightings.See(state.operator_lease, Monotonic());
      state.controller_sight = controller_sightings.See(state.controller_lease, Monotonic());
      const auto steps = steps_of(state, settings_, now() + ahead_);
      const TakeoverStep* const next = NextOf(steps);
      if (next == nullptr) return true;
      if (next->write) {
        if (writes-- == 0) return false;
        Make(*next->write);
      }
      Pass();
    }
    return false;
  }

  // Returns the objects without their versions, and without the specs of leases, which their holders write.
  std::map<std::string, nlohmann::json> ComparableObjects() const {
    std::map<std::string, nlohmann::json> comparable;
    for (const auto& [name, object] : objects_) {
      nlohmann::json copy = object;
      copy["metadata"].erase("resourceVersion");
      if (name.starts_with("Lease/")) copy.erase("spec");
      comparable[name] = copy;
    }
    return comparable;
  }
  std::string HolderOf(const std::string& lease) {
    return objects_["Lease/" + lease]["spec"].value("holderIdentity", "");
  }
  WallTime now() const { return kBegin + now_; }

  // Returns the value of the label of each node, or "-".
  std::string Labels() {
    std::string labels;
    for (const char* name : {"Node/a", "Node/b", "Node/c"}) {
      labels += objects_[name]["metadata"]["labels"].value(kAgentLabel, "-") + " ";
    }
    return labels;
  }

  TakeoverSettings settings_ = {.with_server = true, .with_daemons = true};
  std::set<std::string, std::less<>> daemons_;  // The nodes on which the operator's daemon runs.
  // Newer candidates of the operator leave a lease alone for the time that its holder has written, and older ones for a
  // time of their own.
  bool heeds_written_duration_ = false;
  bool are_ready_ = true;            // The replicas that our Deployment should have are ready.
  bool are_stuck_ = false;           // Our replicas do not compete for the leases.
  bool are_killed_ = false;          // Our replicas have ended without a release of the leases.
  bool are_elsewhere_ = false;       // Our replicas run without their Deployment.
  std::chrono::seconds ahead_ = {};  // How far the clock of the machine that runs this command is ahead.
  std::string lingering_ = {};       // A pod of the operator's controller that takes long to end.
  int ready_servers_ = 3;            // The pods of the operator's server that are ready.
  bool serves_ = true;               // Our Ignition server answers in all pods.
  std::map<std::string, nlohmann::json> objects_;
  std::vector<std::string> writes_;

 private:
  static constexpr const char* kAgentLabel = "pintle.io/agent";
  static constexpr const char* kAgentReport = "pintle.io/agent-state";
  static constexpr WallTime kBegin = WallTime(std::chrono::seconds(1'800'000'000));

  static json::Value Parsed(std::string_view text) { return ValueOf(json::Parse(text)); }

  // Returns the metadata of the object.
  nlohmann::json& Put(const std::string& key, const char* text) {
    objects_[key] = nlohmann::json::parse(text);
    nlohmann::json& metadata = objects_[key]["metadata"];
    metadata = {{"name", key.substr(key.find('/') + 1)}, {"resourceVersion", "1"}};
    if (!key.starts_with("ClusterVersion") && !key.starts_with("Node")) metadata["namespace"] = kNamespace;
    return metadata;
  }

  // Adds the annotations and conditions that Pintle's controller adds while it leads.
  void AnnotateAsOurs() {
    for (auto& [name, object] : objects_) {
      if (name.starts_with("MachineConfigPool/")) {
        object["metadata"]["annotations"]["pintle.io/rendered-configs-kept-until"] = "2030-01-01T00:00:00Z";
        if (object["status"]["conditions"].size() > 2) continue;
        auto& conditions = object["status"]["conditions"];
        conditions.insert(conditions.begin() + 1, nlohmann::json::parse(R"({"type": "PausedPending"})"));
        conditions.push_back(nlohmann::json::parse(R"({"type": "Misconfigured"})"));
      } else if (name.starts_with("Node/")) {
        for (const char* key : {"controller-config-waits-until", "stage", "drain-started", "keep-cordoned"}) {
          object["metadata"]["annotations"][std::string("pintle.io/") + key] = "x";
        }
      } else if (name == "ConfigMap/kubeconfig-data") {
        object["metadata"]["annotations"]["pintle.io/copied-at"] = "2030-01-01T00:00:00Z";
      } else if (name.starts_with("ControllerConfig/")) {
        object["metadata"]["annotations"]["pintle.io/os-image-stream"] = "4.21.0 HASH";
      }
    }
  }

  // Simulates a node: the operator's daemon starts or ends, and then our agent takes one step.
  void ActOn(const std::string& node, nlohmann::json& metadata) {
    const std::string label = metadata["labels"].value(kAgentLabel, "-");
    const auto daemon = objects_.find("DaemonSet/machine-config-daemon");
    const bool leaves_agents = daemon != objects_.end() && daemon->second.dump().find(kAgentLabel) != std::string::npos;
    if (daemon == objects_.end() || (label != "-" && leaves_agents)) {
      daemons_.erase(node);
    } else {
      daemons_.insert(node);
    }
    if (!metadata["annotations"].contains(kAgentReport)) return;
    const std::string before = metadata["annotations"][kAgentReport];
    const std::string after = label != "acts" ? "standby" : before == "standby" ? "begins" : "acts";
    if (after != before) {
      metadata["annotations"][kAgentReport] = after;
      metadata["resourceVersion"] = std::to_string(++version_);
    }
    ASSERT_FALSE(after != "standby" && daemons_.contains(node)) << "two act on the node " << node;
  }

  static std::string KeyOf(const TakeoverWrite& write) {
    const char* const kinds[] = {"ConfigMap", "ClusterVersion",    "Deployment",       "DaemonSet", "Lease",
                                 "Node",      "MachineConfigPool", "ControllerConfig", "ConfigMap"};
    return std::string(kinds[static_cast<int>(write.object)]) + "/" + write.name;
  }

  template <typename T>
  void ReadObject(const std::string& key, std::optional<T>& to) const {
    const auto found = objects_.find(key);
    if (found == objects_.end()) return;
    json::Report report;
    to = json::Decode<T>(Parsed(found->second.dump()), report);
  }

  MonotonicTime Monotonic() const { return MonotonicTime(now_); }
  bool Acts(const SimulatedCandidate& candidate) const { return candidate.is_running && now_ < candidate.acts_until; }

  void Act(const std::string& lease, SimulatedCandidate& candidate) {
    if (!candidate.is_running) {
      // A replica that ends releases its lease, and a new one knows nothing.
      if (HolderOf(lease) == candidate.identity) objects_["Lease/" + lease]["spec"]["holderIdentity"] = "";
      candidate.candidacy = kube::Candidacy(candidate.identity, {}, candidate.offer);
      candidate.acts_until = {};
      return;
    }
    // A candidate of the Machine Config Operator that has lost its lease acts until its deadline, and then starts anew.
    const bool is_old = !candidate.identity.starts_with("pintle-controller_");
    if (is_old && candidate.acts_until != std::chrono::seconds() && now_ >= candidate.acts_until) {
      candidate.candidacy = kube::Candidacy(candidate.identity, {}, candidate.offer);
      candidate.acts_until = {};
    }
    if (now_ < candidate.next) return;
    candidate.next = now_ + std::chrono::seconds(26);
    json::Report report;
    auto found = json::Decode<api::LeaseSpec>(Parsed(objects_["Lease/" + lease]["spec"].dump()), report);
    if (is_old && !heeds_written_duration_ && found.lease_duration_seconds != 0) found.lease_duration_seconds = 137;
    const auto wanted = candidate.candidacy.Decide(found, Monotonic(), now());
    if (!is_old && !candidate.candidacy.IsLeader(Monotonic())) candidate.acts_until = {};
    if (!wanted) return;
    objects_["Lease/" + lease]["spec"] = nlohmann::json::parse(json::ToText(json::Encode(*wanted)));
    objects_["Lease/" + lease]["metadata"]["resourceVersion"] = std::to_string(++version_);
    candidate.candidacy.Wrote(Monotonic());
    candidate.acts_until = now_ + std::chrono::seconds(107);
  }

  std::map<std::string, std::pair<std::string, SimulatedCandidate>>
      old_;  // By lease: its Deployment and its candidate.
  std::map<std::string, SimulatedCandidate> ours_;
  std::chrono::seconds now_ = {};
  int version_ = 1;
};

}  // namespace pintle::controller
