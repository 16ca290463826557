// SPDX-License-Identifier: Apache-2.0
#include "controller/takeover_steps.h"

#include <gmock/gmock.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "json/fields.h"
#include "json/parse.h"
#include "kube/candidacy.h"
#include "support/expect.h"

namespace pintle::controller {
namespace {

using std::chrono::seconds;

constexpr const char* kNamespace = "openshift-machine-config-operator";
const WallTime kStart = WallTime(seconds(1'800'000'000));

json::Value Parsed(std::string_view text) { return ValueOf(json::Parse(text)); }

// A candidate for a lease with the times of OpenShift's own operators.
struct Candidate {
  std::string identity;
  bool is_running = true;
  kube::Candidacy candidacy{identity, {}};
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
    Put("Deployment/pintle-controller", R"({"spec": {"replicas": 2}, "status": {"replicas": 2, "readyReplicas": 2}})");
    for (const char* lease : {"machine-config", "machine-config-controller"}) {
      const std::string deployment = std::string(lease) == "machine-config" ? "machine-config-operator" : lease;
      Put(std::string("Lease/") + lease, R"({"spec": {}})");
      old_[lease] = {deployment, Candidate{.identity = deployment + "-x_1"}};
      ours_[lease] = Candidate{.identity = "pintle-controller_y_1"};
    }
    for (int i = 0; i < 300; ++i) Pass();
  }

  TakeoverState State() const {
    TakeoverState state;
    Take("ClusterVersion/version", state.cluster_version);
    Take("Deployment/machine-config-operator", state.operators);
    Take("Deployment/machine-config-controller", state.controller);
    Take("DaemonSet/machine-config-server", state.server);
    Take("Deployment/pintle-controller", state.ours);
    Take("Lease/machine-config", state.operator_lease);
    Take("Lease/machine-config-controller", state.controller_lease);
    Take("ConfigMap/pintle-takeover", state.record);
    return state;
  }

  // Lets a second pass: holders renew, candidates take leases, pods start and end.
  void Pass() {
    now_ += seconds(1);
    for (auto& [lease, old] : old_) {
      old.second.is_running = objects_["Deployment/" + old.first]["spec"]["replicas"] == 1;
      Act(lease, old.second);
    }
    // Our replicas are candidates for the operator's lease while they lead.
    const bool run = objects_["Deployment/pintle-controller"]["spec"]["replicas"] != 0;
    for (auto& [lease, ours] : ours_) {
      ours.is_running = run && (lease == "machine-config-controller" || Acts(ours_["machine-config-controller"]));
      Act(lease, ours);
    }
    for (auto& [name, object] : objects_) {
      if (name.starts_with("Deployment/")) object["status"]["replicas"] = object["spec"]["replicas"];
      if (!name.starts_with("DaemonSet/")) continue;
      const bool is_nowhere = object["spec"]["template"]["spec"]["nodeSelector"].contains("pintle.io/taken-over");
      object["status"]["currentNumberScheduled"] = is_nowhere ? 0 : 3;
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
      objects_.erase(key);
    } else {
      objects_[key] = objects_[key].patch(nlohmann::json::parse(json::ToText(write.patch)));
    }
    if (objects_.contains(key)) objects_[key]["metadata"]["resourceVersion"] = std::to_string(++version_);
  }

  // Makes steps until all are done; gives up after some writes if that is wanted.
  using Steps = std::vector<TakeoverStep> (*)(const TakeoverState&, const TakeoverSettings&, WallTime);
  bool Run(Steps steps_of, std::size_t writes = 1000) {
    for (int i = 0; i < 3000; ++i) {
      const auto steps = steps_of(State(), settings_, now());
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

  // Returns the objects without what counts the writes, and without the leases, which their holders write.
  std::map<std::string, nlohmann::json> Essence() const {
    std::map<std::string, nlohmann::json> essence;
    for (const auto& [name, object] : objects_) {
      nlohmann::json copy = object;
      copy["metadata"].erase("resourceVersion");
      if (name.starts_with("Lease/")) copy.erase("spec");
      essence[name] = copy;
    }
    return essence;
  }
  std::string HolderOf(const std::string& lease) {
    return objects_["Lease/" + lease]["spec"].value("holderIdentity", "");
  }
  WallTime now() const { return kStart + now_; }

  TakeoverSettings settings_ = {.with_server = true};
  std::map<std::string, nlohmann::json> objects_;
  std::vector<std::string> writes_;

 private:
  void Put(const std::string& key, const char* text) {
    objects_[key] = nlohmann::json::parse(text);
    objects_[key]["metadata"] = {{"name", key.substr(key.find('/') + 1)}, {"resourceVersion", "1"}};
    if (!key.starts_with("ClusterVersion")) objects_[key]["metadata"]["namespace"] = kNamespace;
  }

  static std::string KeyOf(const TakeoverWrite& write) {
    const char* const kinds[] = {"ConfigMap", "ClusterVersion", "Deployment", "DaemonSet", "Lease"};
    return std::string(kinds[static_cast<int>(write.object)]) + "/" + write.name;
  }

  template <typename T>
  void Take(const std::string& key, std::optional<T>& to) const {
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
      candidate.candidacy = kube::Candidacy(candidate.identity, {});
      candidate.acts_until = {};
      return;
    }
    // A candidate of the Machine Config Operator that has lost its lease acts until its deadline, and then starts anew.
    const bool is_old = !candidate.identity.starts_with("pintle-controller_");
    if (is_old && candidate.acts_until != seconds() && now_ >= candidate.acts_until) {
      candidate.candidacy = kube::Candidacy(candidate.identity, {});
      candidate.acts_until = {};
    }
    if (now_ < candidate.next) return;
    candidate.next = now_ + seconds(26);
    json::Report report;
    auto found = json::Decode<api::LeaseSpec>(Parsed(objects_["Lease/" + lease]["spec"].dump()), report);
    // It leaves a lease alone for a time of its own, whatever the holder has written.
    if (is_old && found.lease_duration_seconds != 0) found.lease_duration_seconds = 137;
    const auto wanted = candidate.candidacy.Decide(found, Monotonic(), now());
    if (!is_old && !candidate.candidacy.IsLeader(Monotonic())) candidate.acts_until = {};
    if (!wanted) return;
    objects_["Lease/" + lease]["spec"] = nlohmann::json::parse(json::ToText(json::Encode(*wanted)));
    objects_["Lease/" + lease]["metadata"]["resourceVersion"] = std::to_string(++version_);
    candidate.candidacy.Wrote(Monotonic());
    candidate.acts_until = now_ + seconds(107);
  }

  std::map<std::string, std::pair<std::string, Candidate>> old_;  // By lease; with the Deployment.
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
  // Nothing is left to do when it is run again.
  const std::size_t before = cluster.writes_.size();
  EXPECT_TRUE(cluster.Run(StepsToTakeOver));
  EXPECT_EQ(cluster.writes_.size(), before);
}

TEST(StepsToTakeOver, ScaleNothingDownBeforePintleHoldsTheLeases) {
  SimulatedTakeover cluster;
  cluster.objects_["Deployment/pintle-controller"]["status"].erase("readyReplicas");
  EXPECT_FALSE(cluster.Run(StepsToTakeOver));
  EXPECT_EQ(cluster.objects_["Deployment/machine-config-operator"]["spec"]["replicas"], 1);
  EXPECT_EQ(cluster.HolderOf("machine-config"), "machine-config-operator-x_1");
}

TEST(StepsToUndo, MakeEverythingAsItWas) {
  SimulatedTakeover cluster;
  const auto before = cluster.Essence();
  ASSERT_TRUE(cluster.Run(StepsToTakeOver));
  ASSERT_TRUE(cluster.Run(StepsToUndo));
  for (int i = 0; i < 300; ++i) cluster.Pass();
  EXPECT_EQ(cluster.Essence(), before);
  EXPECT_EQ(cluster.HolderOf("machine-config"), "machine-config-operator-x_1");
  EXPECT_EQ(cluster.HolderOf("machine-config-controller"), "machine-config-controller-x_1");
}

TEST(StepsToUndo, MakeEverythingAsItWasFromAfterEachWrite) {
  SimulatedTakeover whole;
  ASSERT_TRUE(whole.Run(StepsToTakeOver));
  std::set<std::string> kinds;
  for (std::size_t writes = 0; writes < whole.writes_.size(); ++writes) {
    // Many writes in a row only renew the hold on a lease.
    const std::string& next = whole.writes_[writes];
    if (!kinds.insert(next.substr(0, next.find(':'))).second && writes % 10 != 0) continue;
    SimulatedTakeover cluster;
    const auto before = cluster.Essence();
    EXPECT_FALSE(cluster.Run(StepsToTakeOver, writes));
    ASSERT_TRUE(cluster.Run(StepsToUndo)) << writes;
    EXPECT_EQ(cluster.Essence(), before) << writes;
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

TEST(StepsToUndo, KeepTheOverridesOfOthers) {
  SimulatedTakeover cluster;
  ASSERT_TRUE(cluster.Run(StepsToTakeOver));
  cluster.objects_["ClusterVersion/version"]["spec"]["overrides"].push_back({{"kind", "Deployment"}, {"name", "b"}});
  ASSERT_TRUE(cluster.Run(StepsToUndo));
  EXPECT_EQ(cluster.objects_["ClusterVersion/version"]["spec"]["overrides"],
            nlohmann::json::parse(R"([{"kind": "Deployment", "name": "b"}])"));
}

TEST(StepsToUndo, HaveNothingToDoWithoutATakeover) {
  SimulatedTakeover cluster;
  EXPECT_TRUE(cluster.Run(StepsToUndo));
  EXPECT_TRUE(cluster.writes_.empty());
}

}  // namespace
}  // namespace pintle::controller
