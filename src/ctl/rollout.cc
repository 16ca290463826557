// SPDX-License-Identifier: Apache-2.0
#include "ctl/rollout.h"

#include <fmt/core.h>

#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "api/rollout_policy.h"
#include "base/clock.h"
#include "base/huge_pages.h"
#include "base/output.h"
#include "base/printable.h"
#include "controller/watched.h"
#include "ctl/rollout_progress.h"
#include "ctl/rollout_simulation.h"
#include "ctl/rollout_table.h"
#include "ctl/verbs.h"
#include "json/fields.h"
#include "json/parse.h"
#include "pool/waved_rollout.h"

namespace pintle::ctl {
namespace {

RolloutAnswer RolloutAnswerOf(const pool::Situation& situation, pool::Rollout rollout) {
  RolloutAnswer answer;
  answer.layered = situation.layering.is_layered();
  answer.unavailable = std::move(rollout.unavailable);
  if (rollout.image) {
    answer.can_layered_continue = {
        .can_apply_updates = rollout.image->can_apply, .reason = rollout.image->reason, .error = std::nullopt};
    if (!rollout.image->error.empty()) answer.can_layered_continue->error = rollout.image->error;
  }
  answer.rollout_reached = rollout.hold_reason.empty();
  if (rollout.max_unavailable) {
    answer.max_unavailable = rollout.max_unavailable;
    answer.capacity = rollout.candidates.capacity;
    auto& names = answer.candidates.emplace();
    for (const std::size_t i : rollout.candidates.nodes) names.push_back(situation.nodes[i].name());
    auto& order = answer.patched_in_order.emplace();
    for (const pool::NodeUpdate& update : rollout.updates) order.push_back(update.node);
    answer.patches = std::move(rollout.updates);
  } else {
    answer.max_unavailable_error = rollout.max_unavailable_error;
  }
  answer.recovering = std::move(rollout.updates_of_unavailable);
  answer.status = std::move(rollout.status);
  // The transition times are left out, because they are set only when a status is written.
  for (api::Condition& condition : answer.status.conditions) condition.last_transition_time.reset();
  return answer;
}

Result<api::MachineConfigPool> ReadPool(const std::string& path) {
  ClusterObjects objects;
  TRY(AddFile(path, "MachineConfigPool", objects));
  if (objects.pools.size() == 1) return std::move(objects.pools.front());
  return Error(ErrorKind::kInvalid,
               fmt::format("{} has {} MachineConfigPools; exactly one is needed", path, objects.pools.size()));
}

// Reads the inputs of a decision that are not objects of the cluster.
RolloutQuestion ReadSettings(const CommandLine& line) {
  RolloutQuestion question;
  for (const std::string& gates : line.Values("--feature-gates")) {
    for (std::string& gate : SplitAtCommas(gates)) question.feature_gates.push_back(std::move(gate));
  }
  question.operator_node = line.Value("--operator-node").value_or("");
  question.now = SystemClock().Wall();
  return question;
}

// The inputs of `pintle rollout`.
struct RolloutInputs {
  RolloutQuestion question;
  api::MachineConfigPool pool;
  ClusterObjects objects;
  std::string why_no_policies;  // Why the RolloutPolicies are not among the objects; empty if they are.
};

// In a cluster, names are unique.  Of two Nodes with the same name, a simulation would update only one.
Result<> CheckNames(const std::vector<api::Node>& nodes) {
  std::set<std::string_view> names;
  for (const api::Node& node : nodes) {
    if (names.insert(node.metadata.name).second) continue;
    return Error(ErrorKind::kInvalid, fmt::format("two Nodes are named \"{}\"; take one of them out of the files",
                                                  Printable(node.metadata.name)));
  }
  return {};
}

void PrintRolloutWarnings(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) PrintToStderr(fmt::format("pintle: rollout: {}\n", Printable(warning)));
}

Result<RolloutInputs> ReadFiles(RolloutQuestion question) {
  ExpectLargeHeap();  // A cluster may have thousands of Nodes.
  api::MachineConfigPool pool = TRY(ReadPool(question.pool_file));
  ClusterObjects objects;
  TRY(AddFile(question.nodes_file, "Node", objects));
  if (objects.nodes.empty()) {
    PrintRolloutWarnings({fmt::format("{} has no Node, so the pool has none", question.nodes_file)});
  }
  for (const std::string& file : question.other_files) TRY(AddFile(file, "", objects));
  TRY(CheckNames(objects.nodes));
  return RolloutInputs{
      .question = std::move(question), .pool = std::move(pool), .objects = std::move(objects), .why_no_policies = ""};
}

Result<RolloutInputs> InputsFromFiles(const CommandLine& line) {
  if (!line.operands().empty()) {
    return Error(ErrorKind::kInvalid,
                 fmt::format("\"{}\" is not an option (see --help); a pool by its name is looked up "
                             "in the cluster that --kubeconfig leads to",
                             line.operands().front()));
  }
  if (line.Has("--context")) return Error(ErrorKind::kInvalid, "--context needs --kubeconfig");
  if (!line.Has("--pool") && !line.Has("--nodes")) {
    return Error(ErrorKind::kInvalid,
                 "give files with --pool and --nodes; or one POOL, with --kubeconfig FILE (see --help)");
  }
  RolloutQuestion question = ReadSettings(line);
  question.pool_file = TRY(line.Needed("--pool"));
  question.nodes_file = TRY(line.Needed("--nodes"));
  question.other_files = line.Values("--with");
  return ReadFiles(std::move(question));
}

void AddPolicyWarning(const RolloutInputs& inputs, std::vector<std::string>& warnings) {
  if (inputs.why_no_policies.empty()) return;
  warnings.push_back(fmt::format("the RolloutPolicies cannot be read, and may hold the listed nodes back: {}",
                                 inputs.why_no_policies));
}

// Returns why nodes that a policy does not admit have to wait.
std::string_view WhyHeldBack(pool::RolloutPhase phase) {
  using pool::RolloutPhase;
  switch (phase) {
    case RolloutPhase::kSoaking:
      return "the nodes of the present wave are watched first";
    case RolloutPhase::kAwaitingApproval:
      return "the next wave needs an approval";
    case RolloutPhase::kStaging:
      return "all nodes stage the target first";
    case RolloutPhase::kAwaitingGate:
      return "a gate is not met";
    case RolloutPhase::kAwaitingWindow:
      return "no window is open";
    case RolloutPhase::kFrozen:
      return "the policy's freeze forbids updates";
    case RolloutPhase::kHalted:
      return "the rollout is halted";
    case RolloutPhase::kHeld:
    case RolloutPhase::kUpdating:
    case RolloutPhase::kComplete:
      break;
  }
  return "";
}

// Decides by a policy, and adds its progress to the preview.
void DecideByPolicy(const CheckedPolicy& policy, const pool::Situation& situation, WallTime now,
                    RolloutPreview& preview) {
  if (!policy.compiled) {
    const pool::Admission nobody = {.nodes = std::vector<bool>(situation.nodes.size(), false), .capacity = 0};
    pool::Situation held = situation;
    held.admission = &nobody;
    pool::Rollout rollout = pool::Decide(held);
    const RolloutProgress progress = ProgressOf(policy, nullptr, nullptr, now);
    preview.table = RolloutTable(situation, rollout,
                                 {.progress = ProgressText(progress, policy, now),
                                  .why_held_back = "the RolloutPolicy cannot be used",
                                  .members = {}});
    preview.answer = RolloutAnswerOf(situation, std::move(rollout));
    preview.answer.rollout = progress;
    return;
  }
  PolicyDecisionPreview by_policy = PreviewDecision(policy, situation, now);
  const RolloutProgress progress = ProgressOf(policy, &by_policy.status, &situation, now);
  for (std::string& warning : by_policy.warnings) preview.warnings.push_back(std::move(warning));
  preview.table = RolloutTable(situation, by_policy.decided.rollout,
                               {.progress = ProgressText(progress, policy, now),
                                .why_held_back = WhyHeldBack(by_policy.decided.phase),
                                .members = by_policy.decided.memory.members});
  preview.answer = RolloutAnswerOf(situation, std::move(by_policy.decided.rollout));
  preview.answer.rollout = progress;
}

Result<RolloutInputs> InputsFromCluster(const CommandLine& line) {
  for (const std::string_view option : {"--pool", "--nodes", "--with"}) {
    if (!line.Has(option)) continue;
    return Error(ErrorKind::kInvalid,
                 fmt::format("{} cannot be combined with --kubeconfig, which reads the cluster", option));
  }
  if (line.operands().size() != 1) return Error(ErrorKind::kInvalid, "name one pool");
  const std::string& name = line.operands().front();
  auto cluster = TRY(LiveCluster::Of(line));
  ClusterObjects objects = TRY(cluster.Objects());
  const api::MachineConfigPool* const pool = PoolNamed(name, objects);
  if (pool == nullptr) return Error(ErrorKind::kNotFound, fmt::format("the cluster has no pool \"{}\"", name));
  RolloutInputs inputs = {.question = ReadSettings(line), .pool = *pool, .objects = {}, .why_no_policies = ""};
  if (inputs.question.operator_node.empty()) inputs.question.operator_node = TRY(cluster.OperatorNode());
  auto policies = cluster.All<api::RolloutPolicy>();
  if (policies) {
    objects.rollout_policies = *std::move(policies);
  } else {
    inputs.why_no_policies = policies.error().message();
  }
  inputs.objects = std::move(objects);
  return inputs;
}

Result<ExitStatus> PrintSimulation(const RolloutInputs& inputs, const CommandLine& line) {
  const Form form = FormOf(line);
  if (form == Form::kName) return Error(ErrorKind::kInvalid, "-o name cannot be combined with --simulate");
  if (!inputs.why_no_policies.empty()) {
    return Error(ErrorKind::kUnavailable, inputs.why_no_policies).While("reading RolloutPolicies");
  }
  const RolloutSimulation simulation =
      TRY(SimulateRollout(inputs.question, inputs.pool, inputs.objects, TRY(ReadSimulationSettings(line))));
  PrintRolloutWarnings(simulation.warnings);
  if (form == Form::kText) {
    Print(simulation.text);
  } else {
    PrintData(json::Encode(simulation.answer), form);
  }
  return simulation.answer.end ? ExitStatus::kSuccess : ExitStatus::kDiffers;
}

}  // namespace

Result<RolloutPreview> PreviewRollout(const RolloutQuestion& question) {
  const RolloutInputs inputs = TRY(ReadFiles(question));
  return PreviewRollout(question, inputs.pool, inputs.objects);
}

Result<RolloutPreview> PreviewRollout(const RolloutQuestion& question, const api::MachineConfigPool& pool,
                                      const ClusterObjects& objects) {
  RolloutPreview preview;
  const api::RolloutPolicy* const chosen = PolicyOf(pool, objects);
  const auto decide = [&](const pool::Situation& situation) {
    if (chosen != nullptr) {
      return DecideByPolicy(CheckedPolicy::Of(*chosen, pool.metadata.name), situation, question.now, preview);
    }
    pool::Rollout rollout = pool::Decide(situation);
    preview.table = RolloutTable(situation, rollout);
    preview.answer = RolloutAnswerOf(situation, std::move(rollout));
  };
  TRY(WithSituation(question, pool, objects, preview.warnings, decide));
  return preview;
}

Result<ExitStatus> Rollout(const CommandLine& line) {
  const Form form = FormOf(line);
  TRY(CheckSimulationOptions(line));
  RolloutInputs read = TRY(line.Has("--kubeconfig") ? InputsFromCluster(line) : InputsFromFiles(line));
  // The end of the process frees the objects of thousands of nodes at once, and quicker than their destructors.
  static const RolloutInputs& inputs = *new RolloutInputs(std::move(read));
  if (line.Has("--simulate")) return PrintSimulation(inputs, line);
  RolloutPreview preview = TRY(PreviewRollout(inputs.question, inputs.pool, inputs.objects));
  AddPolicyWarning(inputs, preview.warnings);
  PrintRolloutWarnings(preview.warnings);
  if (form == Form::kText) {
    Print(preview.table);
  } else if (form == Form::kName) {
    for (const pool::NodeUpdate& update : preview.answer.recovering) PrintName(update.node);
    for (const pool::NodeUpdate& update : preview.answer.patches.value_or(std::vector<pool::NodeUpdate>()))
      PrintName(update.node);
  } else {
    PrintData(json::Encode(preview.answer), form);
  }
  const RolloutAnswer& answer = preview.answer;
  const bool updates_nodes = (answer.patches && !answer.patches->empty()) || !answer.recovering.empty();
  return updates_nodes || answer.max_unavailable_error ? ExitStatus::kDiffers : ExitStatus::kSuccess;
}

}  // namespace pintle::ctl
