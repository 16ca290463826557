// SPDX-License-Identifier: Apache-2.0
#include "pool/simulation.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <utility>

#include "api/annotations.h"
#include "json/fields.h"
#include "json/parse.h"

namespace pintle::pool {
namespace {

using Kind = SimulatedStep::Kind;

// A rollout that has not ended after this time waits for something that a simulation cannot know.
constexpr auto kLongest = std::chrono::days(366);
// Each node and each window needs a few decisions.  If there are more than this, the decisions contradict each other.
constexpr std::size_t kMostDecisions = 20'000;
constexpr std::size_t kMostDecisionsPerNode = 10;

// Returns the policy with only its rules about time and order.  A simulation cannot know when a gate is met or when a
// node has staged its target.
Policy WithoutUnknowns(Policy policy) {
  policy.gates.clear();
  policy.stages_all = false;
  return policy;
}

// Makes decisions one after the other, and changes its copies of the nodes and of the pool as a cluster would.
class Player {
 public:
  explicit Player(const SimulationInputs& inputs)
      : inputs_(inputs),
        policy_(WithoutUnknowns(inputs.policy)),
        pool_(inputs.situation.pool),
        memory_(inputs.memory),
        now_(std::chrono::floor<std::chrono::seconds>(inputs.begin)) {
    nodes_.reserve(inputs.situation.nodes.size());  // The states point to the nodes.
    for (const NodeState& state : inputs.situation.nodes) nodes_.push_back(state.node());
    for (const api::Node& node : nodes_) states_.emplace_back(node);
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      indices_.emplace(nodes_[i].metadata.name, i);
      if (IsAtWork(i)) due_[i] = std::max(now_, BeganAt(i) + inputs_.node_time);
    }
  }

  Simulation Play() && {
    const std::size_t needed = kMostDecisions + kMostDecisionsPerNode * nodes_.size();
    const std::size_t most = std::min(needed, inputs_.most_decisions.value_or(needed));
    for (std::size_t decisions = 0; decisions < most; ++decisions) {
      const PolicyRollout decided = Decide();
      AddStepsFor(decided);
      if (!json::Equal(decided.memory, memory_)) {
        memory_ = decided.memory;
        continue;
      }
      if (decided.phase == RolloutPhase::kComplete) {
        if (due_.empty()) return Finish();
        // Without a policy in effect, the rollout counts as complete as soon as each node has been given the target.
        // Nodes may still be at work then.
        PassTo(FirstDue());
        continue;
      }
      if (Act(decided)) continue;
      const auto next = NextMoment(decided);
      if (!next) return StopAt(decided);
      PassTo(*next);
    }
    simulation_.is_cut_off = most < needed;
    simulation_.obstacle =
        fmt::format("the simulation has not ended after {} decisions; please report this as a defect of Pintle", most);
    return std::move(simulation_);
  }

 private:
  PolicyRollout Decide() const {
    const Situation& real = inputs_.situation;
    const Situation situation = {.pool = pool_,
                                 .nodes = states_,
                                 .machine_config_nodes = {},
                                 .layering = real.layering,
                                 .features = real.features,
                                 .cert_expirys = {},
                                 .operator_node = real.operator_node,
                                 .configs = real.configs,
                                 .all_pools = real.all_pools,
                                 .os_image_streams = {},
                                 .unavailable_arbiters = real.unavailable_arbiters,
                                 .masters = real.masters,
                                 .now = std::nullopt};
    return DecideByPolicy(situation, {.policy = policy_, .memory = memory_, .now = now_});
  }

  // Does what the decision needs from a person, the API server and the nodes.  Returns whether it needs anything.
  bool Act(const PolicyRollout& decided) {
    if (decided.phase == RolloutPhase::kAwaitingApproval && !decided.wave_digest.empty()) {
      Approve(decided);
      return true;
    }
    const auto& updates = decided.rollout.updates;
    const auto& of_unavailable = decided.rollout.updates_of_unavailable;
    if (updates.empty() && of_unavailable.empty()) return false;
    AddStepsForUpdates(decided);
    for (const auto* list : {&updates, &of_unavailable}) {
      for (const NodeUpdate& update : *list) Apply(update);
    }
    return true;
  }

  void Approve(const PolicyRollout& decided) {
    api::RolloutOrder order;
    order.target = pool_.spec.configuration.name;
    order.wave_digest = decided.wave_digest;
    order.wave = decided.wave;
    order.by = "the simulation";
    order.at = ToRfc3339(now_);
    pool_.metadata.annotations.insert_or_assign(std::string(api::kApproveAnnotation),
                                                json::ToText(json::Encode(order)));
  }

  // Returns the next moment at which a node is done, or at which the policy may decide otherwise.  Returns nullopt if
  // there is none within kLongest, or if the rollout is held.
  std::optional<WallTime> NextMoment(const PolicyRollout& decided) const {
    if (decided.phase == RolloutPhase::kHeld) return std::nullopt;
    std::optional<WallTime> next = decided.decide_again_at;
    for (const auto& [node, due] : due_) next = std::min(next.value_or(due), due);
    if (next && *next > inputs_.begin + kLongest) return std::nullopt;
    return next;
  }

  // Returns when the first of the nodes at work is done.
  WallTime FirstDue() const {
    const auto earlier = [](const auto& a, const auto& b) { return a.second < b.second; };
    return std::min_element(due_.begin(), due_.end(), earlier)->second;
  }

  // Lets the clock jump to a moment, and completes the updates that are due by then.
  void PassTo(WallTime moment) {
    now_ = std::max(now_, moment);
    std::erase_if(due_, [&](const auto& due) {
      if (due.second > now_) return false;
      Complete(due.first);
      return true;
    });
  }

  Simulation Finish() {
    Add({.kind = Kind::kFinished, .nodes = nodes_.size()});
    simulation_.end = now_;
    return std::move(simulation_);
  }

  Simulation StopAt(const PolicyRollout& decided) {
    simulation_.obstacle = decided.message;
    return std::move(simulation_);
  }

  // ---- nodes ----

  std::string& MutableAnnotation(std::size_t i, std::string_view key) {
    return nodes_[i].metadata.annotations[std::string(key)];
  }
  const std::string& Annotation(std::size_t i, std::string_view key) const {
    return nodes_[i].metadata.Annotation(key);
  }

  // Returns whether the node's agent is applying a config.
  bool IsAtWork(std::size_t i) const {
    if (states_[i].is_done() || states_[i].is_degraded()) return false;
    return !states_[i].desired_config().empty();
  }

  WallTime BeganAt(std::size_t i) const {
    const auto assigned = inputs_.memory.assigned_at.find(nodes_[i].metadata.name);
    return assigned == inputs_.memory.assigned_at.end() ? now_ : std::min(assigned->second.at, now_);
  }

  // Patches a node.  Its agent then begins to work, unless the node has the target already.
  void Apply(const NodeUpdate& update) {
    const std::size_t i = indices_.at(update.node);
    api::ObjectMeta& metadata = nodes_[i].metadata;
    const auto change = [](auto& values, const NodePatch::Changes& changes) {
      for (const auto& [key, value] : changes) {
        if (value) {
          values.insert_or_assign(key, *value);
        } else {
          values.erase(key);
        }
      }
    };
    change(metadata.annotations, update.patch.metadata.annotations);
    change(metadata.labels, update.patch.metadata.labels);
    if (update.patch.spec) nodes_[i].spec.taints = update.patch.spec->taints;
    const bool was_done = states_[i].is_done();
    states_[i] = NodeState(nodes_[i]);
    if (states_[i].is_done() && was_done) return;  // The node has the target already.
    MutableAnnotation(i, api::kStateAnnotation) = api::kStateWorking;
    states_[i] = NodeState(nodes_[i]);
    due_[i] = now_ + inputs_.node_time;
  }

  // Makes a node done with its desired config and image.
  void Complete(std::size_t i) {
    const std::string config = Annotation(i, api::kDesiredConfigAnnotation);
    MutableAnnotation(i, api::kCurrentConfigAnnotation) = config;
    const std::string image = Annotation(i, api::kDesiredImageAnnotation);
    if (image.empty()) {
      nodes_[i].metadata.annotations.erase(std::string(api::kCurrentImageAnnotation));
    } else {
      MutableAnnotation(i, api::kCurrentImageAnnotation) = image;
    }
    MutableAnnotation(i, api::kStateAnnotation) = api::kStateDone;
    states_[i] = NodeState(nodes_[i]);
  }

  // ---- the report ----

  void Add(SimulatedStep step) {
    step.at = now_;
    simulation_.steps.push_back(std::move(step));
  }

  // Adds steps for the news of a decision.  If the rollout begins to wait, also adds a step for what it waits for.
  void AddStepsFor(const PolicyRollout& decided) {
    for (const RolloutNews& news : decided.news) {
      // `decided.wave` is the next wave already, so the number of the wave that is done comes from the memory.
      if (news.reason == "RolloutWaveDone") Add({.kind = Kind::kWaveDone, .wave = memory_.wave_index + 1});
      if (news.reason == "RolloutHalted") Add({.kind = Kind::kHalted, .wave = decided.wave, .message = news.message});
    }
    const bool is_same = noted_ == std::pair(decided.phase, decided.wave);
    noted_ = {decided.phase, decided.wave};
    if (is_same) return;
    const bool waits = decided.phase == RolloutPhase::kAwaitingWindow || decided.phase == RolloutPhase::kFrozen;
    if (waits) Add({.kind = Kind::kWaitsForWindow, .wave = decided.wave, .until = decided.opening.begin});
    if (decided.phase == RolloutPhase::kSoaking) AddSoakStep(decided);
    if (decided.phase == RolloutPhase::kAwaitingApproval) Add({.kind = Kind::kNeedsApproval, .wave = decided.wave});
  }

  void AddSoakStep(const PolicyRollout& decided) {
    const auto& since = decided.memory.well_since;
    if (!since) return;
    const Wave& wave = policy_.waves[static_cast<std::size_t>(decided.wave - 1)];
    Add({.kind = Kind::kSoaks, .wave = decided.wave, .until = since->at + wave.soak});
  }

  // Adds a step when the first node of a wave, or the first node in a window, is given the target.
  void AddStepsForUpdates(const PolicyRollout& decided) {
    noted_ = {};
    if (!decided.rollout.updates.empty() && memory_.has_begun && begun_wave_ != decided.wave) {
      begun_wave_ = decided.wave;
      Add({.kind = Kind::kWaveBegins, .wave = decided.wave, .nodes = CountNodesToUpdate()});
    }
    const Opening& opening = decided.opening;
    if (!opening.end || opening.begin > now_ || used_until_ == opening.end) return;
    used_until_ = opening.end;
    Add({.kind = Kind::kWindowUsed, .wave = decided.wave, .since = opening.begin, .until = opening.end});
  }

  // Returns the number of nodes of the present wave that do not have the target yet.
  std::size_t CountNodesToUpdate() const {
    const Target target(pool_, inputs_.situation.layering);
    const auto& members = memory_.members;
    return static_cast<std::size_t>(std::count_if(states_.begin(), states_.end(), [&](const NodeState& node) {
      const bool is_in_wave = members.empty() || std::binary_search(members.begin(), members.end(), node.name());
      return is_in_wave && !target.IsAssignedTo(node);
    }));
  }

  const SimulationInputs& inputs_;
  const Policy policy_;
  api::MachineConfigPool pool_;
  api::RolloutMemory memory_;
  WallTime now_;
  std::vector<api::Node> nodes_;
  std::vector<NodeState> states_;
  std::map<std::string, std::size_t, std::less<>> indices_;
  std::map<std::size_t, WallTime> due_;  // When nodes that are at work are done.

  Simulation simulation_;
  std::optional<std::pair<RolloutPhase, int>> noted_;  // The phase and the wave that was reported last.
  int begun_wave_ = 0;
  std::optional<WallTime> used_until_;  // The end of the window that was used last.
};

}  // namespace

const char* NameOf(SimulatedStep::Kind kind) {
  switch (kind) {
    case Kind::kWaveBegins:
      return "WaveBegins";
    case Kind::kWindowUsed:
      return "WindowUsed";
    case Kind::kWaitsForWindow:
      return "WaitsForWindow";
    case Kind::kSoaks:
      return "Soaks";
    case Kind::kNeedsApproval:
      return "NeedsApproval";
    case Kind::kWaveDone:
      return "WaveDone";
    case Kind::kHalted:
      return "Halted";
    case Kind::kFinished:
      return "Finished";
  }
  return "";
}

Simulation Simulate(const SimulationInputs& inputs) { return Player(inputs).Play(); }

}  // namespace pintle::pool
