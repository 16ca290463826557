// SPDX-License-Identifier: Apache-2.0

// Runs the passes in a small model of a cluster, in which random things happen, the same in each run: nodes are updated
// and drained, configs turn out bad and are reverted, nodes crash, others cordon nodes, pools are paused, and the
// mirror lags behind each node by a different time.
//
// PINTLE_MODEL_STEPS sets the number of steps; the build sets its default.

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <memory>
#include <random>
#include <set>

#include "api/waiting_files.h"
#include "controller/write_answers.h"
#include "kube/any_object.h"
#include "pool/max_unavailable.h"
#include "support/expect.h"
#include "support/world.h"

namespace pintle::controller {
namespace {

constexpr int kStepsUntilSettling = 400;
const std::vector<std::string> kPools = {"worker", "infra"};

int StepsToTake() {
  const char* const steps = std::getenv("PINTLE_MODEL_STEPS");
  return steps == nullptr ? USUAL_STEPS : std::atoi(steps);
}

// How often things have happened in all models.  A model in which they do not happen would prove nothing.
struct Happenings {
  int updates = 0;
  int drains = 0;
  int broken = 0;
  int deadly = 0;
};

class Model {
 public:
  Model(unsigned seed, Happenings& happenings) : happenings_(happenings), random_(seed) {
    for (const std::string& pool : kPools) truth_.AddPool(pool, "good-0");
    const int count = 3 + Below(8);
    for (int i = 0; i < count; ++i) {
      const std::string name = "node-" + std::to_string(i);
      truth_.AddNode(name, "worker", "good-0");
      if (Below(3) == 0) SwitchPool(name);
      names_.push_back(name);
      mirror_[name].object = truth_.nodes[name];
    }
  }

  void Step() {
    switch (Below(19)) {
      case 0:
        return Retarget();
      case 1:
        truth_.pools[AnyPool()].spec.paused = Below(3) == 0;
        return;
      case 2:
        truth_.pools[AnyPool()].spec.max_unavailable = api::IntOrString{Below(4)};
        return;
      case 3:
        return Crash(AnyNode());
      case 4:
        return CordonByOthers(AnyNode());
      case 5:
        if (Below(10) == 0) SwitchPool(AnyNode());
        return;
      case 6:
      case 7:
      case 8:
        return CatchUp(AnyNode());
      case 9:
      case 10:
      case 11:
        return Pass();
      case 12:
      case 13:
      case 14:
        return ForecastAnew(AnyNode());
      default:
        return Work(AnyNode());
    }
  }

  // Reverts bad configs and ends all interference; then all nodes must reach their target, whatever has happened
  // before.
  void EndInterferenceAndSettle() {
    for (const std::string& pool : kPools) {
      truth_.pools[pool].spec.configuration.name = last_good_;
      truth_.pools[pool].spec.paused = false;
      truth_.pools[pool].spec.max_unavailable = api::IntOrString{1};
    }
    for (const std::string& name : names_) {
      if (crashed_.contains(name)) Crash(name);
      if (cordoned_by_others_.contains(name)) CordonByOthers(name);
    }
    const std::size_t most_rounds = 20 * names_.size();
    for (std::size_t round = 0; round < most_rounds && !IsSettled(); ++round) {
      Pass();
      for (const std::string& name : names_) Work(name);
      CatchUpWithAll();
    }
    CatchUpWithAll();
    Pass();
    ASSERT_TRUE(IsSettled());
    for (const std::string& pool : kPools) {
      EXPECT_EQ(truth_.ConditionOf(pool, "Updated")->status, "True") << pool;
    }
  }

 private:
  int Below(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }
  const std::string& AnyNode() { return names_[static_cast<std::size_t>(Below(static_cast<int>(names_.size())))]; }
  const std::string& AnyPool() { return kPools[static_cast<std::size_t>(Below(2))]; }
  // A broken config makes its nodes Degraded, and a deadly one makes them NotReady.
  static bool IsBroken(const std::string& config) { return config.starts_with("broken"); }
  static bool IsDeadly(const std::string& config) { return config.starts_with("deadly"); }

  bool IsSettled() const {
    return std::all_of(names_.begin(), names_.end(), [&](const std::string& name) {
      const pool::NodeState state(truth_.nodes.at(name));
      return state.is_done() && state.is_ready() && state.current_config() == last_good_;
    });
  }

  std::string PoolOf(const std::string& name) const {
    return truth_.nodes.at(name).metadata.labels.contains("node-role.kubernetes.io/infra") ? "infra" : "worker";
  }

  // ---- what happens in the cluster ----

  api::Node& Change(const std::string& name) {
    api::Node& node = truth_.nodes[name];
    node.metadata.resource_version = std::to_string(++truth_.version);
    return node;
  }
  void Log(const std::string& name) { log_[name].push_back(truth_.nodes[name]); }

  void Retarget() {
    static const std::vector<std::string> kKinds = {"good-", "good-", "broken-", "deadly-"};
    const int kind = Below(5);
    std::string target = last_good_;
    if (kind < 4) target = kKinds[static_cast<std::size_t>(kind)] + std::to_string(++targets_);
    if (target.starts_with("good")) last_good_ = target;
    truth_.pools[AnyPool()].spec.configuration.name = target;
  }

  void SetReady(api::Node& node, bool is_ready) { node.status.conditions[0].status = is_ready ? "True" : "False"; }

  void Crash(const std::string& name) {
    api::Node& node = Change(name);
    if (crashed_.erase(name) == 0) crashed_.insert(name);
    SetReady(node, !crashed_.contains(name));
    at_work_.erase(name);
    Log(name);
  }

  // Changes a node's forecast, and with it the order in which nodes are updated.
  void ForecastAnew(const std::string& name) {
    if (truth_.undrainable.erase(name) == 0) truth_.undrainable.insert(name);
  }

  void CordonByOthers(const std::string& name) {
    api::Node& node = Change(name);
    if (cordoned_by_others_.erase(name) == 0) cordoned_by_others_.insert(name);
    node.spec.unschedulable = cordoned_by_others_.contains(name) || drained_.contains(name);
    at_work_.erase(name);
    Log(name);
  }

  void SwitchPool(const std::string& name) {
    auto& labels = Change(name).metadata.labels;
    const std::string infra = "node-role.kubernetes.io/infra";
    if (labels.erase(infra) == 0) labels.emplace(infra, "");
    at_work_.erase(name);  // The node is in another pool now, and the rollout of that pool did not choose it.
    Log(name);
  }

  // Does one step of a node's agent, and of the drain that it requests.
  void Work(const std::string& name) {
    if (crashed_.contains(name)) return;
    const std::string current = truth_.AnnotationOf(name, api::kCurrentConfigAnnotation);
    const std::string desired = truth_.AnnotationOf(name, api::kDesiredConfigAnnotation);
    const std::string state = truth_.AnnotationOf(name, api::kStateAnnotation);
    if (current == desired && state == api::kStateDone) return;
    api::Node& node = Change(name);
    if (current == desired) {
      Finish(name, node, desired);
    } else if (IsBroken(desired)) {
      ++happenings_.broken;
      truth_.Annotate(name, api::kStateAnnotation, std::string(api::kStateDegraded));
      at_work_.erase(name);
    } else if (IsDeadly(desired)) {
      ++happenings_.deadly;
      truth_.Annotate(name, api::kStateAnnotation, std::string(api::kStateWorking));
      SetReady(node, false);
      at_work_.erase(name);
    } else if (state != api::kStateWorking) {
      truth_.Annotate(name, api::kStateAnnotation, std::string(api::kStateWorking));
    } else if (!drained_.contains(name)) {
      ++happenings_.drains;
      drained_.insert(name);
      node.spec.unschedulable = true;
    } else {
      Finish(name, node, desired);
    }
    Log(name);
  }

  void Finish(const std::string& name, api::Node& node, const std::string& config) {
    truth_.Annotate(name, api::kCurrentConfigAnnotation, config);
    truth_.Annotate(name, api::kStateAnnotation, std::string(api::kStateDone));
    SetReady(node, true);
    drained_.erase(name);
    node.spec.unschedulable = cordoned_by_others_.contains(name);
    at_work_.erase(name);
  }

  // ---- what the controller does ----

  void CatchUp(const std::string& name) {
    if (log_[name].empty()) return;
    mirror_[name].object = std::move(log_[name].front());
    log_[name].pop_front();
    answers_.Mirrored(mirror_[name]);
  }

  void CatchUpWithAll() {
    for (const std::string& name : names_) {
      while (!log_[name].empty()) CatchUp(name);
    }
  }

  void Pass() {
    World seen = truth_;
    for (auto& [name, node] : seen.nodes) node = kube::As<api::Node>(answers_.LatestOf(mirror_[name]));
    const Changes changes = seen.Pass();
    std::set<std::string> updated_pools;
    for (const NodeChange& change : changes.nodes) {
      if (Write(change)) updated_pools.insert(change.pool);
    }
    for (const StatusChange& change : changes.statuses) truth_.pools[change.pool].status = change.status;
    for (const std::string& pool : updated_pools) CheckBudget(pool);
  }

  // Returns whether the change only requests that the node hold back files: that is written while the pool is paused.
  static bool OnlyHoldsFiles(const NodeChange& change) {
    const auto& metadata = change.patch.metadata;
    return change.target_text.empty() && metadata.labels.empty() && metadata.annotations.size() == 1 &&
           metadata.annotations.contains(std::string(api::kFilesWaitAnnotation));
  }

  // Returns whether the write has taken a healthy node out of service.
  bool Write(const NodeChange& change) {
    const api::Node before = truth_.nodes[change.node];
    // If the node has changed, the write is refused, and the node is read instead.
    bool is_taken = false;
    if (before.metadata.resource_version == change.resource_version) {
      EXPECT_TRUE(!truth_.pools[change.pool].spec.paused || OnlyHoldsFiles(change))
          << "a node of a paused pool was changed";
      truth_.Apply(change);
      Log(change.node);
      EXPECT_EQ(truth_.nodes[change.node].spec.unschedulable, before.spec.unschedulable);
      const pool::NodeState state_before(before);
      // An update that the node had not begun may be taken back.
      const bool is_done = pool::NodeState(truth_.nodes[change.node]).is_done();
      is_taken =
          !is_done && !change.target_text.empty() && !state_before.is_unavailable() && !state_before.is_degraded();
      if (is_taken) {
        ++happenings_.updates;
        at_work_.insert(change.node);
      }
      if (is_done) at_work_.erase(change.node);
    }
    answers_.Put(std::make_unique<kube::ObjectOf<api::Node>>(truth_.nodes[change.node]));
    return is_taken;
  }

  // Of the healthy nodes, no more may be taken out of service than may be unavailable.
  void CheckBudget(const std::string& pool) {
    const auto of_pool = [&](const std::string& name) { return PoolOf(name) == pool; };
    const auto count = std::count_if(names_.begin(), names_.end(), of_pool);
    const auto unavailable = std::count_if(at_work_.begin(), at_work_.end(), of_pool);
    const auto most = pool::MaxUnavailable(truth_.pools[pool], static_cast<std::size_t>(count));
    ASSERT_TRUE(Succeeded(most));
    EXPECT_LE(unavailable, *most) << pool;
  }

  Happenings& happenings_;
  std::mt19937 random_;
  World truth_;
  std::vector<std::string> names_;
  std::map<std::string, kube::ObjectOf<api::Node>> mirror_;
  std::map<std::string, std::deque<api::Node>> log_;  // The versions that the mirror does not have yet.
  WriteAnswers answers_;
  std::set<std::string> crashed_;
  std::set<std::string> cordoned_by_others_;
  std::set<std::string> drained_;
  std::set<std::string> at_work_;  // Nodes that were healthy when their update began, and are not done yet.
  std::string last_good_ = "good-0";
  int targets_ = 0;
};

TEST(RolloutModel, NeverUpdatesTooManyNodesAndAlwaysEnds) {
  const int steps = StepsToTake();
  ASSERT_GT(steps, 0) << "PINTLE_MODEL_STEPS is not a positive number";
  int done_steps = 0;
  Happenings happenings;
  for (unsigned seed = 0; done_steps < steps && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Model model(seed, happenings);
    for (int i = 0; i < kStepsUntilSettling && !testing::Test::HasFailure(); ++i, ++done_steps) model.Step();
    model.EndInterferenceAndSettle();
  }
  std::printf("%d steps were taken: %d updates, %d drains, %d steps of broken nodes, %d of deadly ones\n", done_steps,
              happenings.updates, happenings.drains, happenings.broken, happenings.deadly);
  for (const int count : {happenings.updates, happenings.drains, happenings.broken, happenings.deadly}) {
    EXPECT_GT(count, done_steps / 1000);
  }
}

}  // namespace
}  // namespace pintle::controller
