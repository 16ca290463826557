// SPDX-License-Identifier: Apache-2.0

// Runs DecideByPolicy() in a small model of a cluster, in which random things happen, the same in each run: configs
// turn out bad and are taken back, nodes crash, are cordoned, join and leave, people approve and resume, gates open and
// close, windows come and go, the policy is edited, the clock jumps, and the controller is killed before or between its
// writes.  Some models have a time zone in which the clocks are put forward or back.
//
// PINTLE_MODEL_STEPS sets the number of steps; the build sets its default.

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <set>

#include "base/time_zone_files.h"
#include "json/fields.h"
#include "json/parse.h"
#include "pool/max_unavailable.h"
#include "pool/waved_rollout.h"
#include "support/expect.h"
#include "unit/pool/sample.h"

namespace pintle::pool {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

constexpr int kStepsUntilSettling = 400;

int StepsToTake() {
  const char* const steps = std::getenv("PINTLE_MODEL_STEPS");
  return steps == nullptr ? USUAL_STEPS : std::atoi(steps);
}

// How often things have happened in all models.  A model in which they do not happen would prove nothing.
struct Happenings {
  std::map<std::string, int> news;
  int updates = 0;
  // Updates that need no wave, gate or window.
  int reverts = 0;  // Of nodes that still have the target.
  int repairs = 0;  // Of nodes that an earlier target has broken.
  int ended_soaks = 0;
  int passed_gates = 0;  // Gates that a person has let a wave pass.
  int edits = 0;
};

// Some models begin shortly before the clocks in Berlin are changed.
WallTime BeginOf(unsigned seed) {
  const char* const begins[] = {"2027-01-04T12:00:00Z", "2027-03-26T12:00:00Z", "2027-10-29T12:00:00Z"};
  return ValueOf(FromRfc3339(begins[seed % std::size(begins)]));
}

class PolicyModel {
 public:
  PolicyModel(unsigned seed, Happenings& happenings)
      : happenings_(happenings), random_(seed), pool_(PoolWith("good-0", {1 + Below(3)})), now_(BeginOf(seed)) {
    MakePolicy();
    const int count = 3 + Below(7);
    for (int i = 0; i < count; ++i) AddNode();
  }

  void Step() {
    switch (Below(26)) {
      case 0:
        if (OneIn(3)) Retarget();
        return;
      case 1:
        pool_.spec.paused = OneIn(4);
        return;
      case 2:
        pool_.spec.max_unavailable = api::IntOrString{Below(4)};
        return;
      case 3:
        return Crash(AnyNode());
      case 4:
        return Cordon(AnyNode());
      case 5:
        return ChangeMembership();
      case 6:
        return Approve();
      case 7:
        return Resume();
      case 8:
        return Override();
      case 9:
        return SwitchGates();
      case 10:
        return Stage(AnyNode());
      case 11:
        now_ += OneIn(10) ? hours(Below(200) - 100) : hours(Below(3));
        return;
      case 12:
      case 13:
        now_ += minutes(Below(20));
        return;
      case 14:
        return ForgetRollout();
      case 15:
        return EditPolicy();
      case 16:
      case 17:
      case 18:
      case 19:
        Pass(OneIn(5));
        return;
      default:
        Work(AnyNode());
        return;
    }
  }

  // Takes bad configs back and ends all interference, but resumes nothing; then all nodes must reach their target.
  void EndInterferenceAndSettle() {
    pool_.spec.configuration.name = last_good_;
    pool_.spec.paused = false;
    pool_.spec.max_unavailable = api::IntOrString{2};
    for (auto& [name, node] : nodes_) {
      crashed_.erase(name);
      SetReady(node, true);
      node.spec.unschedulable = false;
      SetFit(node, true);
      node.metadata.annotations.erase(std::string(api::kUnstageableAnnotation));
    }
    results_["query"] = {.is_met = true, .message = ""};
    for (int round = 0; round < 600 && !IsSettled() && !testing::Test::HasFailure(); ++round) {
      for (auto& [name, node] : nodes_) {
        node.metadata.annotations[std::string(api::kStagedAnnotation)] = last_good_;
      }
      const bool has_acted = Pass(false);
      if (last_.phase == RolloutPhase::kAwaitingApproval) ApproveWave(last_good_, last_.wave);
      bool has_worked = false;
      for (auto& [name, node] : nodes_) has_worked = Work(name) || has_worked;
      if (!has_acted && !has_worked && last_.decide_again_at) now_ = std::max(now_, *last_.decide_again_at);
    }
    ASSERT_TRUE(IsSettled()) << NameOf(last_.phase) << ": " << last_.message << "\n"
                             << json::ToText(json::Encode(memory_));
    Pass(false);  // The latest decision may be that of a controller that was killed before it wrote the memory.
    for (int i = 0; i < 20 && last_.phase != RolloutPhase::kComplete; ++i) {
      if (!Pass(false) && last_.decide_again_at) now_ = *last_.decide_again_at;
      if (last_.phase == RolloutPhase::kAwaitingApproval) ApproveWave(last_good_, last_.wave);
    }
    EXPECT_EQ(NameOf(last_.phase), std::string("Complete")) << last_.message;
    EXPECT_FALSE(memory_.halt);
  }

 private:
  int Below(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }
  bool OneIn(int n) { return Below(n) == 0; }
  std::string AnyNode() {
    auto node = nodes_.begin();
    std::advance(node, Below(static_cast<int>(nodes_.size())));
    return node->first;
  }

  // ---- the policy ----

  void MakePolicy() {
    const int count = Below(4);
    for (int i = 0; i < count; ++i) policy_.waves.push_back(MakeWave());
    Wave rest;
    rest.name = "rest";
    if (count > 0) rest.failure_threshold = NodeShare{0, false};
    tolerates_failures_ = tolerates_failures_ || count == 0;
    policy_.waves.push_back(rest);
    if (OneIn(2)) policy_.order_label = "rack";
    policy_.needs_approval = OneIn(3);
    MakeWindows();
    MakeGates();
    policy_.stages_all = OneIn(6);
  }

  Wave MakeWave() {
    Wave wave;
    wave.name = "w" + std::to_string(++made_waves_);
    wave.nodes = OneIn(3) ? NodeShare{20 + Below(40), true} : NodeShare{1 + Below(3), false};
    if (OneIn(3)) {
      wave.nodes.reset();
      wave.selector = ValueOf(api::Selector::Compile(api::LabelSelector{{{"canary", "yes"}}, {}}));
    }
    if (OneIn(2)) wave.max_unavailable = NodeShare{1 + Below(2), false};
    if (OneIn(2)) wave.soak = minutes(Below(60));
    wave.failure_threshold = NodeShare{OneIn(3) ? 1 : 0, false};
    tolerates_failures_ = tolerates_failures_ || wave.failure_threshold->number > 0;
    wave.node_timeout = hours(1 + Below(5));
    wave.ready_timeout = minutes(1 + Below(30));
    wave.definition = wave.name;
    return wave;
  }

  // Edits, adds or removes a wave.
  void EditPolicy() {
    if (!OneIn(8)) return;
    ++happenings_.edits;
    const int at = Below(static_cast<int>(policy_.waves.size()));
    const auto wave = policy_.waves.begin() + at;
    const bool is_rest = wave->has_all_remaining_nodes();
    switch (Below(3)) {
      case 0:
        if (policy_.waves.size() < 6) policy_.waves.insert(wave, MakeWave());
        return;
      case 1:
        if (!is_rest) policy_.waves.erase(wave);
        return;
      default:
        if (!is_rest) *wave = MakeWave();
        return;
    }
  }

  void MakeWindows() {
    std::vector<api::RolloutWindow> windows;
    std::optional<api::RolloutFreeze> freeze;
    if (OneIn(2)) {
      window_start_ = Below(24);
      window_hours_ = 1 + Below(8);
      windows.push_back({.days = {},
                         .start = fmt::format("{:02}:00", *window_start_),
                         .duration = fmt::format("{}h", window_hours_),
                         .time_zone = OneIn(2) ? "Europe/Berlin" : "UTC"});
      zone_ = ValueOf(ZoneNamed(windows[0].time_zone));
    }
    if (OneIn(6)) {
      frozen_until_ = std::chrono::floor<std::chrono::days>(now_) + std::chrono::days(2);
      freeze = {.until = ToRfc3339(*frozen_until_).substr(0, 10), .time_zone = "UTC", .reason = "test"};
    }
    std::vector<std::string> problems;
    policy_.windows = Windows::Compile(windows, freeze, ZoneNamed, problems);
    ASSERT_TRUE(problems.empty());
    policy_.are_windows_for_disruptions_only = OneIn(3);
  }

  static Result<std::shared_ptr<const TimeZone>> ZoneNamed(const std::string& name) {
    static TimeZoneFiles files;
    return files.Find(name);
  }

  void MakeGates() {
    const auto timeouts = {GateTimeout::kWait, GateTimeout::kHalt, GateTimeout::kContinue};
    for (const bool is_about_nodes : {true, false}) {
      for (const GateTime when : {GateTime::kBefore, GateTime::kAfter}) {
        if (!OneIn(5)) continue;
        Gate gate;
        gate.name = (is_about_nodes ? "node" : "query");
        if (!is_about_nodes) gate.test = api::GateQuery{};
        if (is_about_nodes) gate.test = api::GateCondition{"Fit", "True"};
        if (std::any_of(policy_.gates.begin(), policy_.gates.end(),
                        [&](const Gate& g) { return g.name == gate.name; })) {
          continue;
        }
        gate.when = when;
        gate.on_timeout = *(timeouts.begin() + Below(3));
        if (gate.on_timeout != GateTimeout::kWait) gate.timeout = hours(1 + Below(3));
        policy_.gates.push_back(gate);
      }
    }
  }

  // ---- what happens in the cluster ----

  std::string& AnnotationOf(const std::string& name, std::string_view key) {
    return nodes_.at(name).metadata.annotations[std::string(key)];
  }
  static void SetReady(api::Node& node, bool is_ready) {
    node.status.conditions.at(0).status = is_ready ? "True" : "False";
  }
  static void SetFit(api::Node& node, bool is_fit) { node.status.conditions.at(1).status = is_fit ? "True" : "False"; }

  void AddNode() {
    const std::string name = "node-" + std::to_string(++made_nodes_);
    api::Node node = CreatedAt(NodeAt(name, last_good_), made_nodes_);
    node.status.conditions.push_back({.type = "Fit", .status = OneIn(2) ? "True" : "False"});
    if (!OneIn(4)) node.metadata.labels["rack"] = "r" + std::to_string(Below(3));
    if (OneIn(3)) node.metadata.labels["canary"] = "yes";
    nodes_.emplace(name, std::move(node));
  }

  void ChangeMembership() {
    if (!OneIn(6)) return;
    if (OneIn(2) || nodes_.size() < 3) return AddNode();
    const std::string name = AnyNode();
    nodes_.erase(name);
    crashed_.erase(name);
    at_work_.erase(name);
    assigned_well_.erase(name);
    broken_.erase(name);
    unfinished_.erase(name);
  }

  void Retarget() {
    static const std::vector<std::string> kKinds = {"good-", "broken-", "deadly-", "broken-"};
    const int kind = Below(6);
    std::string target = last_good_;
    if (kind < 4) target = kKinds[static_cast<std::size_t>(kind)] + std::to_string(++targets_);
    if (target.starts_with("good")) last_good_ = target;
    pool_.spec.configuration.name = target;
  }

  void Crash(const std::string& name) {
    if (crashed_.erase(name) == 0) crashed_.insert(name);
    SetReady(nodes_.at(name), !crashed_.contains(name));
    at_work_.erase(name);
  }

  void Cordon(const std::string& name) {
    bool& is_cordoned = nodes_.at(name).spec.unschedulable;
    is_cordoned = !is_cordoned;
    at_work_.erase(name);
  }

  void ApproveWave(const std::string& target, int wave) {
    const auto index = static_cast<std::size_t>(wave - 1);
    const std::string digest = index < policy_.waves.size() ? DigestOfWave(policy_, index, target) : "unknown";
    approved_.insert(digest);
    api::RolloutOrder order;
    order.target = target;
    order.wave_digest = digest;
    order.at = std::to_string(++orders_);
    pool_.metadata.annotations[std::string(api::kApproveAnnotation)] = json::ToText(json::Encode(order));
  }
  void Approve() {
    const std::string target = OneIn(4) ? "good-0" : pool_.spec.configuration.name;
    ApproveWave(target, 1 + Below(5));
  }

  void Resume() {
    if (!OneIn(3)) return;
    api::RolloutOrder order;
    order.target = pool_.spec.configuration.name;
    order.by = "ann " + std::to_string(++orders_);
    pool_.metadata.annotations[std::string(api::kResumeAnnotation)] = json::ToText(json::Encode(order));
    was_resumed_ = true;
    may_resume_ = true;
  }

  void Override() {
    auto& annotations = pool_.metadata.annotations;
    const std::string key(api::kOverrideAnnotation);
    if (annotations.erase(key) > 0 || !OneIn(3)) return;
    api::RolloutOrder order;
    order.target = OneIn(4) ? last_good_ : pool_.spec.configuration.name;
    order.reason = "CVE";
    // Some orders are given once more with the same text, as by a script that applies the same file again.
    order.at = std::to_string(OneIn(4) ? orders_ : ++orders_);
    // Older versions of `kubectl pintle` do not name the rollout.
    const bool is_bound = memory_.target == order.target && !OneIn(4);
    if (is_bound) order.began = memory_.began;
    const std::string text = json::ToText(json::Encode(order));
    if (is_bound) override_is_for_.try_emplace(text, rollouts_);
    annotations[key] = text;
  }

  // Somebody deletes the policy in the middle of a rollout, and creates it again.
  void ForgetRollout() {
    const bool is_under_way =
        std::any_of(nodes_.begin(), nodes_.end(), [&](const auto& node) { return !HasTarget(NodeState(node.second)); });
    if (OneIn(10) && is_under_way && memory_.target == pool_.spec.configuration.name) {
      memory_ = {};
      override_rollouts_.clear();
      now_ += std::chrono::seconds(1);  // Two rollouts never begin in the same second.
      wave_was_well_since_.reset();
      passed_gates_.clear();
    }
  }

  void SwitchGates() {
    results_["query"] = {.is_met = OneIn(2), .message = "fires"};
    SetFit(nodes_.at(AnyNode()), OneIn(2));
    undisruptive_.clear();
    if (OneIn(2)) undisruptive_.insert(AnyNode());
    undrainable_.clear();
    while (OneIn(2)) undrainable_.insert(AnyNode());
  }

  void Stage(const std::string& name) {
    AnnotationOf(name, api::kStagedAnnotation) = pool_.spec.configuration.name;
    auto& annotations = nodes_.at(name).metadata.annotations;
    annotations.erase(std::string(api::kUnstageableAnnotation));
    if (OneIn(4)) annotations[std::string(api::kUnstageableAnnotation)] = "no space";
  }

  // Does one step of a node's agent.  Returns whether the node has another state then.
  bool Work(const std::string& name) {
    if (crashed_.contains(name)) return false;
    const api::Node before = nodes_.at(name);
    DoWork(name);
    return !json::Equal(before, nodes_.at(name));
  }
  void DoWork(const std::string& name) {
    const std::string current = AnnotationOf(name, api::kCurrentConfigAnnotation);
    const std::string desired = AnnotationOf(name, api::kDesiredConfigAnnotation);
    std::string& state = AnnotationOf(name, api::kStateAnnotation);
    if (current == desired && state == api::kStateDone) return;
    if (current != desired && desired.starts_with("broken")) {
      state = api::kStateDegraded;
      at_work_.erase(name);
    } else if (current != desired && desired.starts_with("deadly")) {
      state = api::kStateWorking;
      SetReady(nodes_.at(name), false);
      at_work_.erase(name);
    } else if (current != desired && state != api::kStateWorking) {
      state = api::kStateWorking;
    } else {
      AnnotationOf(name, api::kCurrentConfigAnnotation) = desired;
      state = api::kStateDone;
      SetReady(nodes_.at(name), true);
      at_work_.erase(name);
    }
  }

  bool IsSettled() const {
    return std::all_of(nodes_.begin(), nodes_.end(), [&](const auto& node) {
      const NodeState state(node.second);
      return state.is_done() && state.is_ready() && state.current_config() == last_good_;
    });
  }

  // ---- what the controller does ----

  // Returns whether anything was written.
  bool Pass(bool is_killed) {
    std::vector<NodeState> states;
    for (const auto& [name, node] : nodes_) states.emplace_back(node);
    NoteFailures(states);
    Situation situation = SituationOf(pool_, states);
    situation.undrainable = &undrainable_;
    last_ = DecideByPolicy(
        situation,
        {.policy = policy_, .memory = memory_, .now = now_, .gate_results = &results_, .undisruptive = &undisruptive_});
    const auto& updates = last_.rollout.updates;
    const auto& of_unavailable = last_.rollout.updates_of_unavailable;
    if (!json::Equal(last_.memory, memory_)) {
      EXPECT_TRUE(updates.empty() && of_unavailable.empty()) << "nodes were updated before the memory was written";
      if (is_killed) return false;
      for (const RolloutNews& item : last_.news) ++happenings_.news[item.reason];
      if (last_.memory.target != memory_.target) ++rollouts_;
      if (last_.memory.override_used && !last_.memory.override_used->withdrawn) {
        override_rollouts_.try_emplace(last_.memory.override_seen, rollouts_);
      }
      CheckPassedGates();
      CheckMemory(states);
      memory_ = last_.memory;
      NoteWave(states);
      return true;
    }
    NoteWave(states);
    for (const auto* list : {&updates, &of_unavailable}) {
      for (const NodeUpdate& update : *list) CheckUpdate(update.node, states);
    }
    for (const auto* list : {&updates, &of_unavailable}) {
      for (const NodeUpdate& update : *list) {
        if (is_killed && OneIn(2)) return true;
        Apply(update);
      }
    }
    CheckBudget(!updates.empty());
    return !updates.empty() || !of_unavailable.empty();
  }

  const Wave& CurrentWave() const {
    return policy_.waves.at(std::min(static_cast<std::size_t>(memory_.wave_index), policy_.waves.size() - 1));
  }

  bool HasTarget(const NodeState& node) const {
    return node.desired_config() == pool_.spec.configuration.name && !node.desired_image();
  }
  static bool IsWell(const NodeState& node) {
    api::Node uncordoned = node.node();
    uncordoned.spec.unschedulable = false;
    return node.is_done() && NodeState(uncordoned).is_ready();
  }

  // Keeps account of what this rollout has broken, independently of the code under test.
  void NoteFailures(const std::vector<NodeState>& states) {
    const std::string& target = pool_.spec.configuration.name;
    if (memory_.target != target && !memory_.target.empty()) {
      // The nodes that the earlier target has not left well, and those that are on the way to it.
      for (const NodeState& node : states) {
        if (node.desired_config() != memory_.target || IsWell(node)) continue;
        const bool is_broken = node.is_degraded() || node.is_done() || IsLate(node);
        (is_broken ? broken_ : unfinished_).insert(node.name());
      }
      assigned_well_.clear();
    }
    for (const NodeState& node : states) {
      if (!IsWell(node)) continue;
      broken_.erase(node.name());
      unfinished_.erase(node.name());
    }
    if (std::exchange(was_resumed_, false)) assigned_well_.clear();
  }

  bool IsLate(const NodeState& node) const {
    const auto assigned = memory_.assigned_at.find(node.name());
    const auto since = assigned == memory_.assigned_at.end() ? memory_.began->at : assigned->second.at;
    const auto& failed = memory_.failed;
    const auto& excused = memory_.excused;
    return now_ - since >= CurrentWave().node_timeout ||
           std::binary_search(failed.begin(), failed.end(), node.name()) ||
           std::binary_search(excused.begin(), excused.end(), node.name());
  }

  // Returns whether a node can only gain: it is unavailable, and its change to an earlier target has failed.
  bool IsLost(const NodeState& node) const {
    if (!node.is_unavailable()) return false;
    const bool is_late = unfinished_.contains(node.name()) && now_ - memory_.began->at >= CurrentWave().node_timeout;
    return node.is_failing() || broken_.contains(node.name()) || is_late ||
           std::binary_search(memory_.broken.begin(), memory_.broken.end(), node.name());
  }

  // Keeps account of since when all nodes of the wave that is under way are well, or have a fault that does not count.
  void NoteWave(const std::vector<NodeState>& states) {
    bool is_well = memory_.has_begun;
    for (const NodeState& node : states) {
      if (!IsMember(node.name())) continue;
      bool is_excused = node.is_degraded();
      for (const auto* names : {&memory_.ailing, &memory_.excused, &memory_.failed}) {
        is_excused = is_excused || std::binary_search(names->begin(), names->end(), node.name());
      }
      is_well = is_well && HasTarget(node) && (IsWell(node) || is_excused);
    }
    if (!is_well) return wave_was_well_since_.reset();
    wave_was_well_since_ = std::min(wave_was_well_since_.value_or(now_), now_);
  }

  bool IsMember(const std::string& name) const {
    const auto& members = memory_.members;
    if (members.empty()) return CurrentWave().has_all_remaining_nodes();
    return std::binary_search(members.begin(), members.end(), name);
  }

  // A gate is passed only for one wave, and only after an order to resume.
  void CheckPassedGates() {
    const bool is_other_wave =
        last_.memory.target != memory_.target || last_.memory.wave_index != memory_.wave_index || !memory_.has_begun;
    if (is_other_wave) passed_gates_.clear();
    const auto& resumptions = last_.memory.resumptions;
    const bool is_resumed = !resumptions.empty() && !json::Equal(resumptions, memory_.resumptions);
    if (is_resumed) {
      EXPECT_TRUE(std::exchange(may_resume_, false)) << "nobody has resumed the rollout";
      EXPECT_TRUE(memory_.halt);
    }
    if (is_resumed && !resumptions.back().gate.empty() && !is_other_wave) {
      passed_gates_.insert(resumptions.back().gate);
      ++happenings_.passed_gates;
    }
  }

  // An order holds for its target, for the rollout that it names, and for the first rollout that it acts on.
  bool IsOverridden() const {
    const std::string& text = pool_.metadata.Annotation(api::kOverrideAnnotation);
    if (text.empty()) return false;
    const auto order = ValueOf(json::Parse(text));
    const auto meant = override_is_for_.find(text);
    if (meant != override_is_for_.end() && meant->second != rollouts_) return false;
    const auto acted = override_rollouts_.find(text);
    return order.TextAt({"target"}) == pool_.spec.configuration.name && acted != override_rollouts_.end() &&
           acted->second == rollouts_;
  }

  bool IsWindowOpen(const std::string& node) const {
    if (IsOverridden()) return true;
    if (frozen_until_ && now_ < *frozen_until_) return false;
    if (!window_start_) return true;
    if (policy_.are_windows_for_disruptions_only && undisruptive_.contains(node)) return true;
    // The window has opened at the first instant at which the clock on the wall had reached its start.
    const auto today = std::chrono::floor<std::chrono::days>(zone_->LocalAt(now_));
    for (const auto day : {today - std::chrono::days(1), today}) {
      WallTime opened = WallTime(day.time_since_epoch()) - hours(3);
      while (zone_->LocalAt(opened) < day + hours(*window_start_)) opened += minutes(30);
      if (opened <= now_ && now_ < opened + hours(window_hours_)) return true;
    }
    return false;
  }

  void CheckUpdate(const std::string& name, const std::vector<NodeState>& states) {
    const NodeState node(nodes_.at(name));
    const std::string& target = pool_.spec.configuration.name;
    EXPECT_FALSE(memory_.halt) << "a halted rollout has updated " << name;
    EXPECT_FALSE(pool_.spec.paused);
    EXPECT_EQ(memory_.target, target);
    if (!tolerates_failures_) {
      for (const NodeState& other : states) {
        const bool has_failed = assigned_well_.contains(other.name()) && HasTarget(other) && other.is_degraded();
        EXPECT_FALSE(has_failed) << other.name() << " has failed, and " << name << " was updated";
      }
    }
    ++happenings_.updates;
    if (node.current_config() == target) {
      ++happenings_.reverts;
      return;
    }
    if (IsLost(node)) {
      ++happenings_.repairs;
      return;
    }
    EXPECT_TRUE(memory_.has_begun);
    EXPECT_TRUE(IsMember(name)) << name << " is not in its wave";
    EXPECT_TRUE(IsWindowOpen(name)) << name << " was updated outside of its window";
    CheckGates(node);
    CheckStaged(states);
    CheckDomains(node, states);
  }

  void CheckGates(const NodeState& node) {
    for (const Gate& gate : policy_.gates) {
      if (gate.when != GateTime::kBefore || gate.on_timeout == GateTimeout::kContinue) continue;
      if (passed_gates_.contains(gate.name)) continue;
      if (gate.is_about_nodes()) {
        EXPECT_EQ(node.node().status.conditions.at(1).status, "True");
      } else {
        EXPECT_TRUE(results_["query"].is_met);
      }
    }
  }

  void CheckStaged(const std::vector<NodeState>& states) {
    if (!policy_.stages_all) return;
    for (const NodeState& other : states) {
      const auto& broken = last_.memory.broken;
      const bool is_broken = std::find(broken.begin(), broken.end(), other.name()) != broken.end();
      if (HasTarget(other) || (other.is_failing() && is_broken)) continue;
      EXPECT_EQ(other.node().metadata.Annotation(api::kStagedAnnotation), pool_.spec.configuration.name);
      EXPECT_EQ(other.node().metadata.Annotation(api::kUnstageableAnnotation), "");
    }
  }

  static std::string RackOf(const NodeState& node) {
    const std::string* const rack = api::Find(node.node().metadata.labels, "rack");
    return rack == nullptr ? "" : *rack;
  }

  // Nodes of other racks are not being updated, unless they are so late that they count as failed.
  void CheckDomains(const NodeState& node, const std::vector<NodeState>& states) {
    if (policy_.order_label.empty()) return;
    for (const NodeState& other : states) {
      if (RackOf(other) == RackOf(node) || !HasTarget(other) || !at_work_.contains(other.name())) continue;
      const auto assigned = memory_.assigned_at.find(other.name());
      const auto since = assigned == memory_.assigned_at.end() ? memory_.began->at : assigned->second.at;
      EXPECT_GE(now_ - since, CurrentWave().node_timeout)
          << RackOf(other) << " is not done, and " << node.name() << " was updated";
    }
  }

  bool HasNews(std::string_view reason) const {
    return std::any_of(last_.news.begin(), last_.news.end(),
                       [&](const RolloutNews& item) { return item.reason == reason; });
  }

  // A wave begins with nodes that it selects, and only if it is approved.
  void CheckBeginOfWave() {
    const auto index = static_cast<std::size_t>(last_.memory.wave_index);
    const Wave& wave = policy_.waves.at(index);
    const std::string& target = pool_.spec.configuration.name;
    if (policy_.needs_approval && index > 0) {
      EXPECT_TRUE(approved_.contains(DigestOfWave(policy_, index, target)));
    }
    const auto& members = last_.memory.members;
    EXPECT_EQ(members.empty(), wave.has_all_remaining_nodes());
    // Nodes that are on the way to the target belong to the wave if their update was recorded in a memory that is lost.
    std::size_t chosen = 0;
    for (const std::string& name : members) {
      if (HasTarget(NodeState(nodes_.at(name)))) continue;
      ++chosen;
      EXPECT_TRUE(!wave.selector || wave.selector->Matches(nodes_.at(name).metadata.labels)) << name;
    }
    if (wave.nodes) {
      EXPECT_LE(chosen, wave.nodes->RoundedUp(nodes_.size()));
    }
  }

  // A wave that has begun ends only if its nodes are well, or have a fault that does not count, and if it has soaked.
  void CheckMemory(const std::vector<NodeState>& states) {
    if (HasNews("RolloutWaveBegun")) CheckBeginOfWave();
    if (memory_.target != last_.memory.target || !memory_.has_begun) return;
    if (last_.memory.wave_index != memory_.wave_index + 1) return;
    // An edit may have put another wave in the place of the one that had all remaining nodes; it may be skipped.
    if (const auto soak = CurrentWave().soak; soak > minutes(0) && HasNews("RolloutWaveDone")) {
      ++happenings_.ended_soaks;
      EXPECT_TRUE(wave_was_well_since_ && now_ - *wave_was_well_since_ >= soak)
          << "a wave has not soaked\n"
          << json::ToText(json::Encode(memory_)) << "\n"
          << json::ToText(json::Encode(last_.memory));
    }
    for (const NodeState& node : states) {
      if (!IsMember(node.name())) continue;
      const auto& ailing = last_.memory.ailing;
      const auto& excused = last_.memory.excused;
      const bool is_excused = std::binary_search(ailing.begin(), ailing.end(), node.name()) ||
                              std::binary_search(excused.begin(), excused.end(), node.name());
      EXPECT_TRUE(HasTarget(node) && (IsWell(node) || is_excused)) << node.name() << ": its wave has ended";
    }
  }

  void Apply(const NodeUpdate& update) {
    const NodeState before(nodes_.at(update.node));
    const bool was_healthy = !before.is_unavailable() && !before.is_degraded();
    if (IsWell(before)) assigned_well_.insert(update.node);
    for (const auto& [key, value] : update.patch.metadata.annotations) {
      nodes_.at(update.node).metadata.annotations[key] = *value;
    }
    const bool is_done = NodeState(nodes_.at(update.node)).is_done();
    if (was_healthy && !is_done) at_work_.insert(update.node);
    if (is_done) at_work_.erase(update.node);
  }

  // Of the healthy nodes, no more may be taken out of service than may be unavailable.
  void CheckBudget(bool has_updated) {
    if (!has_updated) return;
    const auto most = MaxUnavailable(pool_, nodes_.size());
    ASSERT_TRUE(Succeeded(most));
    EXPECT_LE(static_cast<int>(at_work_.size()), *most);
    const auto& of_wave = CurrentWave().max_unavailable;
    if (!of_wave || !memory_.has_begun) return;
    const auto in_wave =
        std::count_if(at_work_.begin(), at_work_.end(), [&](const std::string& name) { return IsMember(name); });
    EXPECT_LE(static_cast<std::size_t>(in_wave),
              std::max<std::size_t>(of_wave->RoundedDown(memory_.members.size()), 1));
  }

  Happenings& happenings_;
  std::mt19937 random_;
  api::MachineConfigPool pool_;
  Policy policy_;
  bool tolerates_failures_ = false;
  std::optional<int> window_start_;
  int window_hours_ = 0;
  std::shared_ptr<const TimeZone> zone_;
  std::optional<WallTime> frozen_until_;
  std::map<std::string, api::Node> nodes_;
  api::RolloutMemory memory_;  // As the API server has it.
  PolicyRollout last_;
  WallTime now_;
  std::map<std::string, GateResult> results_;
  NodeNames undisruptive_;
  NodeNames undrainable_;
  std::set<std::string> crashed_;
  std::set<std::string> at_work_;        // Nodes that were healthy when their update began, and are not done yet.
  std::set<std::string> assigned_well_;  // Nodes that were given the present target while they were well.
  std::set<std::string> broken_;         // Nodes that an earlier target has left unwell.
  std::set<std::string> unfinished_;     // Nodes that were on the way to an earlier target when the target changed.
  std::set<std::string> approved_;       // The digests of the waves that people have approved.
  std::set<std::string> passed_gates_;   // Gates that a person has let the present wave pass.
  std::optional<WallTime> wave_was_well_since_;
  int rollouts_ = 0;
  std::map<std::string, int> override_rollouts_;  // By order, the rollout in which it has acted.
  std::map<std::string, int> override_is_for_;    // By order, the rollout that it names.
  std::string last_good_ = "good-0";
  bool was_resumed_ = false;
  bool may_resume_ = false;  // An order to resume has not acted yet.
  int made_waves_ = 0;
  int made_nodes_ = 0;
  int targets_ = 0;
  int orders_ = 0;
};

TEST(PolicyModel, UpdatesNoNodeAgainstThePolicyAndAlwaysEnds) {
  const int steps = StepsToTake();
  ASSERT_GT(steps, 0) << "PINTLE_MODEL_STEPS is not a positive number";
  int done_steps = 0;
  Happenings happenings;
  for (unsigned seed = 0; done_steps < steps && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    PolicyModel model(seed, happenings);
    for (int i = 0; i < kStepsUntilSettling && !testing::Test::HasFailure(); ++i, ++done_steps) model.Step();
    if (!testing::Test::HasFailure()) model.EndInterferenceAndSettle();
  }
  std::printf("%d steps were taken, %d nodes were updated, of which %d had the target still, and %d were broken\n",
              done_steps, happenings.updates, happenings.reverts, happenings.repairs);
  std::printf("%d soaks ended, %d gates were passed by order, the policy was edited %d times\n", happenings.ended_soaks,
              happenings.passed_gates, happenings.edits);
  EXPECT_GT(happenings.reverts, done_steps / 2000);
  EXPECT_GT(happenings.repairs, done_steps / 2000);
  EXPECT_GT(happenings.updates - happenings.reverts - happenings.repairs, done_steps / 200);
  EXPECT_GT(happenings.ended_soaks, done_steps / 5000);
  EXPECT_GT(happenings.passed_gates, done_steps / 200000);
  EXPECT_GT(happenings.edits, done_steps / 1000);
  for (const char* const reason :
       {"RolloutBegun", "RolloutWaveBegun", "RolloutWaveDone", "RolloutWaveSkipped", "RolloutFinished", "RolloutHalted",
        "RolloutHaltEnded", "RolloutApproved", "RolloutResumed", "RolloutOverridden", "RolloutNodeReplaced"}) {
    std::printf("%s: %d\n", reason, happenings.news[reason]);
    EXPECT_GT(happenings.news[reason], done_steps / 20000) << reason;
  }
}

}  // namespace
}  // namespace pintle::pool
