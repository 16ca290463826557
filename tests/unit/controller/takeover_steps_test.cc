// SPDX-License-Identifier: Apache-2.0
#include "controller/takeover_steps.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "controller/lease_sightings.h"
#include "json/fields.h"
#include "json/parse.h"
#include "kube/candidacy.h"
#include "support/expect.h"

namespace pintle::controller {
namespace {

using std::chrono::seconds;

constexpr const char* kNamespace = "openshift-machine-config-operator";
constexpr const char* kLabel = "pintle.io/agent";
constexpr const char* kRecord = "ConfigMap/pintle-takeover";
constexpr const char* kReport = "pintle.io/agent-state";
const WallTime kStart = WallTime(seconds(1'800'000'000));

json::Value Parsed(std::string_view text) { return ValueOf(json::Parse(text)); }

// A candidate for a lease with the times of OpenShift's own operators.
struct Candidate {
  std::string identity;
  std::string offer = {};  // The holder who leaves a lease to this candidate.
  bool is_running = true;
  kube::Candidacy candidacy{identity, {}, offer};
  seconds next = {};
  seconds acts_until = {};
};

// A cluster whose objects are JSON, as in the API server, and whose holders of leases act.
class SimulatedTakeover {
 public:
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
      if (node != std::string("c")) metadata["annotations"][kReport] = "standby";
    }
    Put("Deployment/pintle-controller", R"({"spec": {"replicas": 2, "template": {"spec": {"containers": [
        {"ports": [{"name": "metrics", "containerPort": 8797}, {"name": "ignition", "containerPort": 22623}]}]}}},
        "status": {"replicas": 2, "readyReplicas": 2, "updatedReplicas": 2}})");
    for (const char* lease : {"machine-config", "machine-config-controller"}) {
      const std::string deployment = std::string(lease) == "machine-config" ? "machine-config-operator" : lease;
      Put(std::string("Lease/") + lease, R"({"spec": {}})");
      old_[lease] = {deployment, Candidate{.identity = deployment + "-x_1"}};
      ours_[lease] = Candidate{.identity = "pintle-controller_y_1", .offer = "pintle-takeover-offer"};
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
    now_ += seconds(1);
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
  WallTime now() const { return kStart + now_; }

  // Returns the value of the label of each node, or "-".
  std::string Labels() {
    std::string labels;
    for (const char* name : {"Node/a", "Node/b", "Node/c"}) {
      labels += objects_[name]["metadata"]["labels"].value(kLabel, "-") + " ";
    }
    return labels;
  }

  TakeoverSettings settings_ = {.with_server = true, .with_daemons = true};
  std::set<std::string, std::less<>> daemons_;  // The nodes on which the operator's daemon runs.
  // Newer candidates of the operator leave a lease alone for the time that its holder has written, and older ones for a
  // time of their own.
  bool heeds_written_duration_ = false;
  bool are_ready_ = true;       // The replicas that our Deployment should have are ready.
  bool are_stuck_ = false;      // Our replicas do not compete for the leases.
  bool are_killed_ = false;     // Our replicas have ended without a release of the leases.
  bool are_elsewhere_ = false;  // Our replicas run without their Deployment.
  seconds ahead_ = {};          // How far the clock of the machine that runs this command is ahead.
  std::string lingering_ = {};  // A pod of the operator's controller that takes long to end.
  int ready_servers_ = 3;       // The pods of the operator's server that are ready.
  bool serves_ = true;          // Our Ignition server answers in all pods.
  std::map<std::string, nlohmann::json> objects_;
  std::vector<std::string> writes_;

 private:
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
    const std::string label = metadata["labels"].value(kLabel, "-");
    const auto daemon = objects_.find("DaemonSet/machine-config-daemon");
    const bool leaves_agents = daemon != objects_.end() && daemon->second.dump().find(kLabel) != std::string::npos;
    if (daemon == objects_.end() || (label != "-" && leaves_agents)) {
      daemons_.erase(node);
    } else {
      daemons_.insert(node);
    }
    if (!metadata["annotations"].contains(kReport)) return;
    const std::string before = metadata["annotations"][kReport];
    const std::string after = label != "acts" ? "standby" : before == "standby" ? "begins" : "acts";
    if (after != before) {
      metadata["annotations"][kReport] = after;
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
  bool Acts(const Candidate& candidate) const { return candidate.is_running && now_ < candidate.acts_until; }

  void Act(const std::string& lease, Candidate& candidate) {
    if (!candidate.is_running) {
      // A replica that ends releases its lease, and a new one knows nothing.
      if (HolderOf(lease) == candidate.identity) objects_["Lease/" + lease]["spec"]["holderIdentity"] = "";
      candidate.candidacy = kube::Candidacy(candidate.identity, {}, candidate.offer);
      candidate.acts_until = {};
      return;
    }
    // A candidate of the Machine Config Operator that has lost its lease acts until its deadline, and then starts anew.
    const bool is_old = !candidate.identity.starts_with("pintle-controller_");
    if (is_old && candidate.acts_until != seconds() && now_ >= candidate.acts_until) {
      candidate.candidacy = kube::Candidacy(candidate.identity, {}, candidate.offer);
      candidate.acts_until = {};
    }
    if (now_ < candidate.next) return;
    candidate.next = now_ + seconds(26);
    json::Report report;
    auto found = json::Decode<api::LeaseSpec>(Parsed(objects_["Lease/" + lease]["spec"].dump()), report);
    if (is_old && !heeds_written_duration_ && found.lease_duration_seconds != 0) found.lease_duration_seconds = 137;
    const auto wanted = candidate.candidacy.Decide(found, Monotonic(), now());
    if (!is_old && !candidate.candidacy.IsLeader(Monotonic())) candidate.acts_until = {};
    if (!wanted) return;
    objects_["Lease/" + lease]["spec"] = nlohmann::json::parse(json::ToText(json::Encode(*wanted)));
    objects_["Lease/" + lease]["metadata"]["resourceVersion"] = std::to_string(++version_);
    candidate.candidacy.Wrote(Monotonic());
    candidate.acts_until = now_ + seconds(107);
  }

  std::map<std::string, std::pair<std::string, Candidate>> old_;  // By lease: its Deployment and its candidate.
  std::map<std::string, Candidate> ours_;
  seconds now_ = {};
  int version_ = 1;
};

TEST(StepsToTakeOver, EndWithPintleAsTheHolderOfBothLeases) {
  SimulatedTakeover cluster;
  EXPECT_EQ(cluster.HolderOf("machine-config-controller"), "machine-config-controller-x_1");
  ASSERT_TRUE(cluster.Run(StepsToTakeOver));
  EXPECT_EQ(cluster.HolderOf("machine-config-controller"), "pintle-controller_y_1");
  EXPECT_EQ(cluster.HolderOf("machine-config"), "pintle-controller_y_1");
  EXPECT_EQ(cluster.objects_["Deployment/machine-config-operator"]["spec"]["replicas"], 0);
  EXPECT_EQ(cluster.objects_["Deployment/machine-config-controller"]["spec"]["replicas"], 0);
  EXPECT_EQ(cluster.objects_["ClusterVersion/version"]["spec"]["overrides"].size(), 1U);
  EXPECT_EQ(cluster.objects_["DaemonSet/machine-config-server"]["status"]["currentNumberScheduled"], 0);
  EXPECT_EQ(cluster.Labels(), "acts acts - ");
  EXPECT_EQ(cluster.daemons_, (std::set<std::string, std::less<>>{"c"}));
  // A second takeover has nothing left to do.
  const std::size_t before = cluster.writes_.size();
  EXPECT_TRUE(cluster.Run(StepsToTakeOver));
  EXPECT_EQ(cluster.writes_.size(), before);
}

TEST(StepsToTakeOver, LeaveNoLeaseToTheOperatorMeanwhile) {
  for (const bool heeds_written : {false, true}) {
    SimulatedTakeover cluster;
    cluster.heeds_written_duration_ = heeds_written;
    ASSERT_TRUE(cluster.Run(StepsToTakeOver));
    // A lease that the operator had got back would have had to be held a second time.
    const auto held = std::count_if(cluster.writes_.begin(), cluster.writes_.end(), [](const std::string& write) {
      return write.find("when its holder has given up") != std::string::npos;
    });
    EXPECT_EQ(held, 2) << heeds_written;
  }
}

TEST(StepsToTakeOver, HoldALeaseLongEnoughAlsoIfTheyGoOnOnAMachineWithAnotherClock) {
  for (const seconds ahead : {seconds(3600), seconds(-3600)}) {
    SimulatedTakeover cluster;
    EXPECT_FALSE(cluster.Run(StepsToTakeOver, 3));
    EXPECT_EQ(cluster.HolderOf("machine-config"), "pintle-takeover");
    cluster.ahead_ = ahead;
    // Pass() fails the test if two candidates act at once.
    EXPECT_TRUE(cluster.Run(StepsToTakeOver));
    EXPECT_EQ(cluster.HolderOf("machine-config"), "pintle-controller_y_1");
  }
}

TEST(StepsToTakeOver, HoldALeaseUntilItsHolderHasTriedForTheLastTime) {
  SimulatedTakeover cluster;
  EXPECT_FALSE(cluster.Run(StepsToTakeOver, 2));
  // In a cluster of one machine, a holder acts for 60 s + 240 s after its last renewal.
  auto& spec = cluster.objects_["Lease/machine-config"]["spec"];
  spec["leaseDurationSeconds"] = 270;
  const auto next_write = [&](seconds held_for) {
    TakeoverState state = cluster.State();
    state.operator_sight = {.unchanged_for = seconds(1), .held_for = held_for, .is_written = true};
    return NextOf(StepsToTakeOver(state, cluster.settings_, cluster.now()))->write.value();
  };
  cluster.Make(next_write(seconds(0)));
  EXPECT_EQ(cluster.HolderOf("machine-config"), "pintle-takeover");
  EXPECT_EQ(cluster.objects_["Lease/machine-config"]["spec"]["leaseDurationSeconds"], 338);
  EXPECT_THAT(next_write(seconds(330)).in_words, testing::HasSubstr("machine-config-controller: is held until"));
  EXPECT_THAT(next_write(seconds(338)).in_words, testing::HasSubstr("machine-config: is left to Pintle's replicas"));
}

TEST(StepsToTakeOver, KeepTheLeasesForPintleForAsLongAsTheyAreRun) {
  SimulatedTakeover cluster;
  cluster.are_stuck_ = true;
  EXPECT_FALSE(cluster.Run(StepsToTakeOver));
  EXPECT_EQ(cluster.HolderOf("machine-config"), "pintle-takeover-offer");
  EXPECT_EQ(cluster.HolderOf("machine-config-controller"), "pintle-takeover-offer");
  // When nobody renews the hold any more, the operator gets its leases back.
  for (int i = 0; i < 400; ++i) cluster.Pass();
  EXPECT_EQ(cluster.HolderOf("machine-config"), "machine-config-operator-x_1");
  EXPECT_EQ(cluster.HolderOf("machine-config-controller"), "machine-config-controller-x_1");
}

TEST(StepsToTakeOver, ScaleNothingDownBeforePintleHoldsTheLeases) {
  SimulatedTakeover cluster;
  cluster.are_ready_ = false;
  cluster.Pass();
  EXPECT_FALSE(cluster.Run(StepsToTakeOver));
  EXPECT_EQ(cluster.objects_["Deployment/machine-config-operator"]["spec"]["replicas"], 1);
  EXPECT_EQ(cluster.HolderOf("machine-config"), "machine-config-operator-x_1");
}

TEST(StepsToTakeOver, ScaleNothingDownForAHolderThatHasEnded) {
  SimulatedTakeover cluster;
  cluster.are_stuck_ = true;
  for (const char* lease : {"Lease/machine-config", "Lease/machine-config-controller"}) {
    cluster.objects_[lease]["spec"]["holderIdentity"] = "pintle-controller_z_1";
  }
  EXPECT_FALSE(cluster.Run(StepsToTakeOver));
  EXPECT_EQ(cluster.objects_["Deployment/machine-config-operator"]["spec"]["replicas"], 1);
  EXPECT_EQ(cluster.objects_["Deployment/machine-config-controller"]["spec"]["replicas"], 1);
}

TEST(StepsToTakeOver, AreNotDoneWhileNoReplicaOfOursIsReady) {
  SimulatedTakeover cluster;
  ASSERT_TRUE(cluster.Run(StepsToTakeOver));
  cluster.objects_["Deployment/pintle-controller"]["status"].erase("readyReplicas");
  const auto steps = StepsToTakeOver(cluster.State(), cluster.settings_, cluster.now());
  ASSERT_NE(NextOf(steps), nullptr);
  EXPECT_EQ(NextOf(steps)->waits_for, "a replica of the Deployment pintle/pintle-controller is ready");
}

TEST(StepsToTakeOver, KeepTheOldServerUntilOursCanBegin) {
  SimulatedTakeover cluster;
  cluster.objects_["Deployment/pintle-controller"]["status"]["updatedReplicas"] = 1;
  EXPECT_FALSE(cluster.Run(StepsToTakeOver));
  EXPECT_EQ(cluster.objects_["DaemonSet/machine-config-server"]["status"]["currentNumberScheduled"], 3);
  const auto next = StepsToTakeOver(cluster.State(), cluster.settings_, cluster.now());
  ASSERT_NE(NextOf(next), nullptr);
  EXPECT_EQ(NextOf(next)->waits_for,
            "this is corrected: not all replicas of the Deployment pintle/pintle-controller are ready with its present "
            "settings");
}

TEST(StepsToTakeOver, WaitForPodsThatAreTerminating) {
  SimulatedTakeover cluster;
  cluster.lingering_ = "machine-config-controller-1 on the node a";
  EXPECT_FALSE(cluster.Run(StepsToTakeOver));
  const auto steps = StepsToTakeOver(cluster.State(), cluster.settings_, cluster.now());
  ASSERT_NE(NextOf(steps), nullptr);
  EXPECT_EQ(
      NextOf(steps)->waits_for,
      "the pods of the Deployment machine-config-controller have ended: machine-config-controller-1 on the node a");
  cluster.lingering_.clear();
  EXPECT_TRUE(cluster.Run(StepsToTakeOver));
}

TEST(StepsToTakeOver, KeepTheOldServerIfOursIsNotDeployed) {
  SimulatedTakeover cluster;
  cluster.objects_["Deployment/pintle-controller"]["spec"].erase("template");
  EXPECT_FALSE(cluster.Run(StepsToTakeOver));
  EXPECT_EQ(cluster.objects_["DaemonSet/machine-config-server"]["status"]["currentNumberScheduled"], 3);
  EXPECT_THAT(WhyServerMustStay(cluster.State(), cluster.settings_),
              testing::EndsWith("has no Ignition server; apply deploy/ignition/openshift"));
}

TEST(StepsToTakeOver, WaitUntilOurServerAnswersInEachPod) {
  SimulatedTakeover cluster;
  cluster.serves_ = false;
  EXPECT_FALSE(cluster.Run(StepsToTakeOver));
  const auto next = StepsToTakeOver(cluster.State(), cluster.settings_, cluster.now());
  ASSERT_NE(NextOf(next), nullptr);
  EXPECT_EQ(
      NextOf(next)->waits_for,
      "the Ignition server answers, and has the configs of all pools, in the pods b of the Deployment "
      "pintle/pintle-controller; `kubectl describe -n pintle deployment pintle-controller` and `kubectl logs -n pintle "
      "deployment/pintle-controller` list the reason");
  cluster.serves_ = true;
  EXPECT_TRUE(cluster.Run(StepsToTakeOver));
}

TEST(StepsToTakeOver, DoNotBeginAnewIfTheRecordIsLost) {
  SimulatedTakeover cluster;
  EXPECT_EQ(WhyTakeoverMustNotBegin(cluster.State(), cluster.settings_), "");
  ASSERT_TRUE(cluster.Run(StepsToTakeOver));
  EXPECT_EQ(WhyTakeoverMustNotBegin(cluster.State(), cluster.settings_), "");
  cluster.objects_.erase(kRecord);
  const std::string why = WhyTakeoverMustNotBegin(cluster.State(), cluster.settings_);
  EXPECT_THAT(why, testing::HasSubstr("it is missing, and a takeover has left the node selector of the DaemonSet "
                                      "machine-config-server"));
  EXPECT_THAT(why, testing::HasSubstr("run `pintle-controller takeover undo`"));
  EXPECT_FALSE(cluster.Run(StepsToTakeOver));
  EXPECT_FALSE(cluster.objects_.contains(kRecord));
}

TEST(StepsToTakeOver, RecognizeATakeoverWithoutItsRecord) {
  SimulatedTakeover whole;
  ASSERT_TRUE(whole.Run(StepsToTakeOver));
  // The first two writes are those of the record and of the override.
  for (const std::size_t writes : {std::size_t(3), std::size_t(5), whole.writes_.size()}) {
    SimulatedTakeover cluster;
    cluster.Run(StepsToTakeOver, writes);
    cluster.objects_.erase(kRecord);
    EXPECT_NE(WhyTakeoverMustNotBegin(cluster.State(), cluster.settings_), "") << writes;
  }
}

TEST(HasTakenAnything, OnlyAfterTheRecordAndTheOverride) {
  for (std::size_t writes = 0; writes < 5; ++writes) {
    SimulatedTakeover cluster;
    EXPECT_FALSE(cluster.Run(StepsToTakeOver, writes));
    EXPECT_EQ(HasTakenAnything(cluster.State(), cluster.settings_), writes > 2) << writes;
  }
  SimulatedTakeover cluster;
  ASSERT_TRUE(cluster.Run(StepsToTakeOver));
  EXPECT_TRUE(HasTakenAnything(cluster.State(), cluster.settings_));
  ASSERT_TRUE(cluster.Run(StepsToUndo));
  EXPECT_FALSE(HasTakenAnything(cluster.State(), cluster.settings_));
}

TEST(StepsToTakeOver, DoNotReplaceARecordThatCannotBeRead) {
  SimulatedTakeover cluster;
  ASSERT_TRUE(cluster.Run(StepsToTakeOver));
  cluster.objects_[kRecord]["data"]["before.json"] = "{";
  EXPECT_THAT(WhyTakeoverMustNotBegin(cluster.State(), cluster.settings_),
              testing::HasSubstr("its entry before.json cannot be read"));
  EXPECT_FALSE(cluster.Run(StepsToTakeOver));
  EXPECT_EQ(cluster.objects_[kRecord]["data"]["before.json"], "{");
}

TEST(StepsToUndo, NameARemedyWhileOurReplicasHaveNotEnded) {
  SimulatedTakeover cluster;
  ASSERT_TRUE(cluster.Run(StepsToTakeOver));
  const auto steps = StepsToUndo(cluster.State(), cluster.settings_, cluster.now());
  const auto leave = std::find_if(steps.begin(), steps.end(), [](const auto& step) { return step.name == "leave"; });
  ASSERT_NE(leave, steps.end());
  EXPECT_THAT(leave->waits_for,
              testing::HasSubstr("`kubectl get -n pintle pods -o wide` lists the pods that are left"));
}

TEST(StepsToUndo, EndARunOfStepsToTakeOverAndViceVersa) {
  SimulatedTakeover cluster;
  const auto has_record = [&](SimulatedTakeover::Steps steps_of) {
    return steps_of(cluster.State(), cluster.settings_, cluster.now()).front().is_done;
  };
  ASSERT_TRUE(cluster.Run(StepsToTakeOver));
  EXPECT_TRUE(has_record(StepsToTakeOver));
  EXPECT_FALSE(has_record(StepsToUndo));
  EXPECT_FALSE(cluster.Run(StepsToUndo, 2));
  EXPECT_FALSE(has_record(StepsToTakeOver));
  EXPECT_TRUE(has_record(StepsToUndo));
  // Somebody who has changed their mind goes back to Pintle.
  ASSERT_TRUE(cluster.Run(StepsToTakeOver));
  EXPECT_FALSE(has_record(StepsToUndo));
  EXPECT_EQ(cluster.HolderOf("machine-config"), "pintle-controller_y_1");
}

TEST(StepsToTakeOver, GoOnAfterAnUndoThatWasCutShortAfterAnyWrite) {
  SimulatedTakeover taken_over;
  ASSERT_TRUE(taken_over.Run(StepsToTakeOver));
  SimulatedTakeover undone = taken_over;
  ASSERT_TRUE(undone.Run(StepsToUndo));
  for (std::size_t writes = 1; writes < undone.writes_.size() - taken_over.writes_.size(); ++writes) {
    SimulatedTakeover cluster = taken_over;
    EXPECT_FALSE(cluster.Run(StepsToUndo, writes));
    ASSERT_TRUE(cluster.Run(StepsToTakeOver)) << "after " << cluster.writes_.back();
    EXPECT_EQ(cluster.HolderOf("machine-config"), "pintle-controller_y_1");
    EXPECT_EQ(cluster.objects_["Deployment/pintle-controller"]["spec"]["replicas"], 2);
    EXPECT_EQ(cluster.objects_["Deployment/machine-config-operator"]["spec"]["replicas"], 0);
    EXPECT_EQ(cluster.Labels(), "acts acts - ");
  }
}

TEST(StepsToUndo, EndTheSameIfTheyWereCutShortAfterAnyWrite) {
  SimulatedTakeover taken_over;
  const auto before = taken_over.ComparableObjects();
  ASSERT_TRUE(taken_over.Run(StepsToTakeOver));
  EXPECT_NE(taken_over.ComparableObjects().at("MachineConfigPool/worker"), before.at("MachineConfigPool/worker"));
  SimulatedTakeover undone = taken_over;
  ASSERT_TRUE(undone.Run(StepsToUndo));
  EXPECT_EQ(undone.ComparableObjects(), before);
  for (std::size_t writes = 1; writes < undone.writes_.size() - taken_over.writes_.size(); ++writes) {
    SimulatedTakeover cluster = taken_over;
    EXPECT_FALSE(cluster.Run(StepsToUndo, writes));
    ASSERT_TRUE(cluster.Run(StepsToUndo)) << "after " << cluster.writes_.back();
    for (int i = 0; i < 300; ++i) cluster.Pass();
    EXPECT_EQ(cluster.ComparableObjects(), before) << writes;
  }
}

TEST(StepsToTakeOver, StartOurReplicasAgainAlsoIfTheirNumberIsNotRecorded) {
  SimulatedTakeover cluster;
  ASSERT_TRUE(cluster.Run(StepsToTakeOver));
  cluster.objects_[kRecord]["data"]["before.json"] = "{}";
  cluster.objects_["Deployment/pintle-controller"]["spec"]["replicas"] = 0;
  ASSERT_TRUE(cluster.Run(StepsToTakeOver));
  EXPECT_EQ(cluster.objects_["Deployment/pintle-controller"]["spec"]["replicas"], 2);
}

TEST(StepsToUndo, MakeWhatOpenShiftInstallsIfTheRecordIsLostOrDamaged) {
  for (const bool is_damaged : {false, true}) {
    SimulatedTakeover cluster;
    auto before = cluster.ComparableObjects();
    ASSERT_TRUE(cluster.Run(StepsToTakeOver));
    if (is_damaged) {
      cluster.objects_[kRecord]["data"]["before.json"] = "[]";
    } else {
      cluster.objects_.erase(kRecord);
    }
    ASSERT_TRUE(cluster.Run(StepsToUndo));
    auto after = cluster.ComparableObjects();
    EXPECT_EQ(after["DaemonSet/machine-config-daemon"]["spec"], nlohmann::json::parse(R"({"template": {"spec":
        {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms":
        [{"matchExpressions": [{"key": "a", "operator": "Exists"}]}]}}}}}})"));
    before.erase("DaemonSet/machine-config-daemon");
    after.erase("DaemonSet/machine-config-daemon");
    EXPECT_EQ(after, before) << is_damaged;
  }
}

TEST(StepsToUndo, ReportAnOverrideThatHasNoRecord) {
  SimulatedTakeover cluster;
  EXPECT_EQ(NoticeOfOverride(cluster.State(), cluster.settings_), "");
  EXPECT_FALSE(cluster.Run(StepsToTakeOver, 2));
  EXPECT_EQ(NoticeOfOverride(cluster.State(), cluster.settings_), "");
  cluster.objects_.erase(kRecord);
  EXPECT_TRUE(cluster.Run(StepsToUndo));
  EXPECT_THAT(NoticeOfOverride(cluster.State(), cluster.settings_),
              testing::HasSubstr("remove it from spec.overrides"));
}

TEST(StepsToUndo, MakeEverythingAsItWas) {
  SimulatedTakeover cluster;
  const auto before = cluster.ComparableObjects();
  ASSERT_TRUE(cluster.Run(StepsToTakeOver));
  ASSERT_TRUE(cluster.Run(StepsToUndo));
  for (int i = 0; i < 300; ++i) cluster.Pass();
  EXPECT_EQ(cluster.ComparableObjects(), before);
  EXPECT_EQ(cluster.HolderOf("machine-config"), "machine-config-operator-x_1");
  EXPECT_EQ(cluster.HolderOf("machine-config-controller"), "machine-config-controller-x_1");
}

// A cluster in which somebody has scaled the operator and its controller down, as the override allows.
void ScaleDownByHand(SimulatedTakeover& cluster) {
  cluster.objects_["ClusterVersion/version"]["spec"]["overrides"] = nlohmann::json::parse(R"([{"kind": "Deployment",
      "group": "apps", "namespace": "openshift-machine-config-operator", "name": "machine-config-operator",
      "unmanaged": true}])");
  for (const char* name : {"Deployment/machine-config-operator", "Deployment/machine-config-controller"}) {
    cluster.objects_[name]["spec"]["replicas"] = 0;
  }
  for (int i = 0; i < 300; ++i) cluster.Pass();
}

TEST(StepsToUndo, LeaveDeploymentsWithoutReplicasThatHadNoneBefore) {
  SimulatedTakeover cluster;
  ScaleDownByHand(cluster);
  const auto before = cluster.ComparableObjects();
  EXPECT_EQ(WhyTakeoverMustNotBegin(cluster.State(), cluster.settings_), "");
  ASSERT_TRUE(cluster.Run(StepsToTakeOver));
  const nlohmann::json record = cluster.objects_[kRecord]["data"]["before.json"];
  ASSERT_TRUE(cluster.Run(StepsToTakeOver));
  EXPECT_EQ(cluster.objects_[kRecord]["data"]["before.json"], record);
  ASSERT_TRUE(cluster.Run(StepsToUndo));
  EXPECT_EQ(cluster.ComparableObjects(), before);
}

// The operator has no replicas, so nobody takes the leases that the takeover has held.
TEST(StepsToUndo, EndFromTheMiddleInAClusterWhoseOperatorWasKilledAndHasNoReplicas) {
  SimulatedTakeover whole;
  ScaleDownByHand(whole);
  ASSERT_TRUE(whole.Run(StepsToTakeOver));
  for (std::size_t writes = 1; writes < whole.writes_.size(); writes += 4) {
    SimulatedTakeover cluster;
    ScaleDownByHand(cluster);
    // The operator has not released its leases.
    for (const std::string lease : {"machine-config", "machine-config-controller"}) {
      cluster.objects_["Lease/" + lease]["spec"]["holderIdentity"] = lease + "-x_9";
    }
    EXPECT_FALSE(cluster.Run(StepsToTakeOver, writes));
    const std::size_t begun = cluster.writes_.size();
    ASSERT_TRUE(cluster.Run(StepsToUndo)) << writes;
    const auto removals = std::count_if(
        cluster.writes_.begin() + static_cast<std::ptrdiff_t>(begun), cluster.writes_.end(),
        [](const std::string& write) { return write.starts_with("ConfigMap") && write.ends_with("is removed"); });
    EXPECT_EQ(removals, 1) << writes;
  }
}

TEST(StepsToUndo, LeaveOutADeploymentThatWasMissingAndGiveBackOneThatCameDuringTheTakeover) {
  for (const bool comes_during_takeover : {false, true}) {
    SimulatedTakeover cluster;
    const nlohmann::json controller = cluster.objects_["Deployment/machine-config-controller"];
    ScaleDownByHand(cluster);
    cluster.objects_.erase("Deployment/machine-config-controller");
    auto before = cluster.ComparableObjects();
    ASSERT_TRUE(cluster.Run(StepsToTakeOver));
    if (comes_during_takeover) {
      cluster.objects_["Deployment/machine-config-controller"] = controller;
      before["Deployment/machine-config-controller"] = controller;
      before["Deployment/machine-config-controller"]["metadata"].erase("resourceVersion");
      ASSERT_TRUE(cluster.Run(StepsToTakeOver));
      EXPECT_EQ(cluster.objects_["Deployment/machine-config-controller"]["spec"]["replicas"], 0);
    }
    ASSERT_TRUE(cluster.Run(StepsToUndo));
    for (int i = 0; i < 10; ++i) cluster.Pass();
    EXPECT_EQ(cluster.ComparableObjects(), before) << comes_during_takeover;
  }
}

TEST(StepsToUndo, GiveBackTheNumberOfReplicasAlsoIfTheRecordIsLost) {
  SimulatedTakeover cluster;
  cluster.objects_["Deployment/machine-config-operator"]["spec"]["replicas"] = 0;
  for (int i = 0; i < 300; ++i) cluster.Pass();
  ASSERT_TRUE(cluster.Run(StepsToTakeOver));
  cluster.objects_.erase(kRecord);
  ASSERT_TRUE(cluster.Run(StepsToUndo));
  EXPECT_EQ(cluster.objects_["Deployment/machine-config-operator"]["spec"]["replicas"], 0);
  EXPECT_EQ(cluster.objects_["Deployment/machine-config-controller"]["spec"]["replicas"], 1);
}

TEST(HasTakenAnything, NotBecauseSomebodyElseHasScaledDown) {
  SimulatedTakeover cluster;
  cluster.objects_["Deployment/machine-config-operator"]["spec"]["replicas"] = 0;
  EXPECT_FALSE(cluster.Run(StepsToTakeOver, 2));
  EXPECT_FALSE(HasTakenAnything(cluster.State(), cluster.settings_));
}

TEST(StepsToUndo, MakeEverythingAsItWasIfStartEndedAfterAnyWrite) {
  SimulatedTakeover whole;
  ASSERT_TRUE(whole.Run(StepsToTakeOver));
  std::set<std::string> kinds;
  for (std::size_t writes = 0; writes < whole.writes_.size(); ++writes) {
    // Many writes in a row only renew the hold on a lease.
    const std::string& next = whole.writes_[writes];
    if (!kinds.insert(next.substr(0, next.find(':'))).second && writes % 10 != 0) continue;
    SimulatedTakeover cluster;
    const auto before = cluster.ComparableObjects();
    EXPECT_FALSE(cluster.Run(StepsToTakeOver, writes));
    ASSERT_TRUE(cluster.Run(StepsToUndo)) << writes;
    EXPECT_EQ(cluster.ComparableObjects(), before) << writes;
    ASSERT_TRUE(cluster.Run(StepsToTakeOver)) << writes;
    EXPECT_EQ(cluster.HolderOf("machine-config"), "pintle-controller_y_1") << writes;
  }
}

TEST(StepsToTakeOver, GoOnAfterEachWrite) {
  SimulatedTakeover whole;
  ASSERT_TRUE(whole.Run(StepsToTakeOver));
  for (std::size_t writes = 0; writes < whole.writes_.size(); writes += 3) {
    SimulatedTakeover cluster;
    EXPECT_FALSE(cluster.Run(StepsToTakeOver, writes));
    for (std::size_t i = 0; i < writes * 20; ++i) cluster.Pass();
    ASSERT_TRUE(cluster.Run(StepsToTakeOver)) << writes;
    EXPECT_EQ(cluster.HolderOf("machine-config-controller"), "pintle-controller_y_1");
  }
}

TEST(StepsToTakeOver, GiveOneNodeAfterTheOtherToItsAgent) {
  SimulatedTakeover cluster;
  ASSERT_TRUE(cluster.Run(StepsToTakeOver));
  std::vector<std::string> of_nodes;
  for (const std::string& write : cluster.writes_) {
    if (write.starts_with("Node ")) of_nodes.push_back(write);
  }
  EXPECT_THAT(of_nodes, testing::ElementsAre("Node a: its label pintle.io/agent becomes awaited",
                                             "Node a: its label pintle.io/agent becomes acts",
                                             "Node b: its label pintle.io/agent becomes awaited",
                                             "Node b: its label pintle.io/agent becomes acts"));
}

TEST(StepsToTakeOver, LeaveTheDaemonsAloneUnlessTheyAreHandedOver) {
  SimulatedTakeover cluster;
  cluster.settings_.with_daemons = false;
  const auto daemon = cluster.objects_["DaemonSet/machine-config-daemon"];
  ASSERT_TRUE(cluster.Run(StepsToTakeOver));
  EXPECT_EQ(cluster.objects_["DaemonSet/machine-config-daemon"], daemon);
  EXPECT_EQ(cluster.Labels(), "- - - ");
}

TEST(StepsToUndo, GiveTheNodesBackAlsoWithoutTheOptionForDaemons) {
  SimulatedTakeover cluster;
  const auto before = cluster.ComparableObjects();
  ASSERT_TRUE(cluster.Run(StepsToTakeOver));
  cluster.settings_.with_daemons = false;
  ASSERT_TRUE(cluster.Run(StepsToUndo));
  EXPECT_EQ(cluster.Labels(), "- - - ");
  EXPECT_EQ(cluster.daemons_.size(), 3U);
  for (int i = 0; i < 300; ++i) cluster.Pass();
  EXPECT_EQ(cluster.ComparableObjects(), before);
}

TEST(StepsToUndo, GiveTheNodesBackAlsoIfTheDaemonSetIsGone) {
  SimulatedTakeover cluster;
  ASSERT_TRUE(cluster.Run(StepsToTakeOver));
  EXPECT_EQ(cluster.Labels(), "acts acts - ");
  cluster.objects_.erase("DaemonSet/machine-config-daemon");
  cluster.settings_.with_daemons = false;
  ASSERT_TRUE(cluster.Run(StepsToUndo));
  EXPECT_EQ(cluster.Labels(), "- - - ");
}

TEST(StepsToUndo, StartOurReplicasOnlyWhenTheServersOfTheOperatorAreReady) {
  SimulatedTakeover cluster;
  ASSERT_TRUE(cluster.Run(StepsToTakeOver));
  cluster.ready_servers_ = 2;
  EXPECT_FALSE(cluster.Run(StepsToUndo));
  EXPECT_EQ(cluster.objects_["Deployment/pintle-controller"]["spec"]["replicas"], 0);
  const auto steps = StepsToUndo(cluster.State(), cluster.settings_, cluster.now());
  ASSERT_NE(NextOf(steps), nullptr);
  EXPECT_EQ(NextOf(steps)->waits_for, "all pods of the DaemonSet machine-config-server are ready (2 of 3 are)");
  cluster.ready_servers_ = 3;
  ASSERT_TRUE(cluster.Run(StepsToUndo));
  EXPECT_EQ(cluster.objects_["Deployment/pintle-controller"]["spec"]["replicas"], 2);
}

TEST(StepsToUndo, NameEachNodeWhoseServerIsNotReadyAndTheRemedy) {
  SimulatedTakeover cluster;
  ASSERT_TRUE(cluster.Run(StepsToTakeOver));
  cluster.ready_servers_ = 1;
  EXPECT_FALSE(cluster.Run(StepsToUndo));
  TakeoverState state = cluster.State();
  EXPECT_TRUE(AreServersAwaited(state));
  state.server->metadata.namespace_name = "n";
  for (api::Node& node : state.nodes) {
    const bool is_down = node.metadata.name == "b";
    node.status.conditions = {{.type = "Ready", .status = is_down ? "Unknown" : "True"}};
  }
  state.unready_servers = {{"a", "server-1"}, {"b", "server-2"}};
  EXPECT_EQ(NextOf(StepsToUndo(state, cluster.settings_, cluster.now()))->waits_for,
            "all pods of the DaemonSet machine-config-server are ready (1 of 3 are). The pod server-1 on the node a is "
            "not ready: `kubectl describe -n n pod server-1` lists the reason. The pod server-2 on the node b is not "
            "ready, because the node is not Ready: start its machine, or delete its Node if the machine is gone");
}

TEST(StepsToUndo, KeepTheOverridesOfOthers) {
  SimulatedTakeover cluster;
  ASSERT_TRUE(cluster.Run(StepsToTakeOver));
  cluster.objects_["ClusterVersion/version"]["spec"]["overrides"].push_back({{"kind", "Deployment"}, {"name", "b"}});
  ASSERT_TRUE(cluster.Run(StepsToUndo));
  EXPECT_EQ(cluster.objects_["ClusterVersion/version"]["spec"]["overrides"],
            nlohmann::json::parse(R"([{"kind": "Deployment", "name": "b"}])"));
}

TEST(StepsToUndo, RestoreOverridesThatKeptTheOperatorManaged) {
  SimulatedTakeover cluster;
  const auto override_with = [](const char* group, bool is_unmanaged) {
    return nlohmann::json{{"group", group},
                          {"kind", "Deployment"},
                          {"namespace", kNamespace},
                          {"name", "machine-config-operator"},
                          {"unmanaged", is_unmanaged}};
  };
  // The objects are replaced when they are patched.
  const auto overrides = [&]() -> nlohmann::json& {
    return cluster.objects_["ClusterVersion/version"]["spec"]["overrides"];
  };
  // The cluster's version operator compares the group, so the first and the last of these have no effect.
  for (const auto& entry : {override_with("", true), override_with("apps", false), override_with("extensions", true)}) {
    overrides().push_back(entry);
  }
  const nlohmann::json before = overrides();
  ASSERT_TRUE(cluster.Run(StepsToTakeOver));
  EXPECT_EQ(overrides().size(), 3U);
  EXPECT_EQ(overrides()[1], override_with("apps", true));
  ASSERT_TRUE(cluster.Run(StepsToUndo));
  EXPECT_EQ(overrides(), before);
}

TEST(StepsToUndo, DoNotWaitForReplicasThatWereKilled) {
  SimulatedTakeover cluster;
  const auto before = cluster.ComparableObjects();
  ASSERT_TRUE(cluster.Run(StepsToTakeOver));
  cluster.are_killed_ = true;
  ASSERT_TRUE(cluster.Run(StepsToUndo));
  EXPECT_EQ(cluster.ComparableObjects(), before);
  EXPECT_EQ(cluster.HolderOf("machine-config"), "machine-config-operator-x_1");
  EXPECT_EQ(cluster.HolderOf("machine-config-controller"), "machine-config-controller-x_1");
}

TEST(StepsToUndo, WaitForAHolderThatGoesOnToRenewItsLease) {
  SimulatedTakeover cluster;
  ASSERT_TRUE(cluster.Run(StepsToTakeOver));
  cluster.are_elsewhere_ = true;
  EXPECT_FALSE(cluster.Run(StepsToUndo));
  EXPECT_EQ(cluster.objects_["Deployment/machine-config-controller"]["spec"]["replicas"], 0);
}

TEST(StepsToUndo, HaveNothingToDoWithoutATakeover) {
  SimulatedTakeover cluster;
  EXPECT_TRUE(cluster.Run(StepsToUndo));
  EXPECT_TRUE(cluster.writes_.empty());
}

}  // namespace
}  // namespace pintle::controller
