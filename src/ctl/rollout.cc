// SPDX-License-Identifier: Apache-2.0
#include "ctl/rollout.h"

#include <fmt/core.h>

#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "api/rollout_policy.h"
#include "base/output.h"
#include "base/printable.h"
#include "controller/watched.h"
#include "ctl/rollout_simulation.h"
#include "ctl/rollout_table.h"
#include "ctl/verbs.h"
#include "json/fields.h"
#include "json/parse.h"

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

Result<RolloutInputs> ReadFiles(RolloutQuestion question) {
  api::MachineConfigPool pool = TRY(ReadPool(question.pool_file));
  ClusterObjects objects;
  TRY(AddFile(question.nodes_file, "Node", objects));
  for (const std::string& file : question.other_files) TRY(AddFile(file, "", objects));
  TRY(CheckNames(objects.nodes));
  return RolloutInputs{
      .question = std::move(question), .pool = std::move(pool), .objects = std::move(objects), .why_no_policies = ""};
}

Result<RolloutInputs> InputsFromFiles(const CommandLine& line) {
  if (!line.words().empty()) {
    return Error(ErrorKind::kInvalid,
                 fmt::format("\"{}\" is not an option (see --help); a pool by its name is looked up "
                             "in the cluster that --kubeconfig leads to",
                             line.words().front()));
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

// The preview lists the updates that the pool allows.  A policy may hold them back, and only the controller knows
// whether the policy's gates are met.
void AddPolicyWarning(const RolloutInputs& inputs, std::vector<std::string>& warnings) {
  if (!inputs.why_no_policies.empty()) {
    warnings.push_back(fmt::format("the RolloutPolicies cannot be read, and may hold the listed nodes back: {}",
                                   inputs.why_no_policies));
    return;
  }
  const api::RolloutPolicy* const chosen = PolicyOf(inputs.pool, inputs.objects);
  if (chosen == nullptr) return;
  std::string report = "it has reported nothing yet";
  for (const api::RolloutPoolStatus& status : chosen->status.pools) {
    if (status.name == inputs.pool.metadata.name) {
      report = fmt::format("it reports {}: {}", status.phase, status.message);
    }
  }
  warnings.push_back(fmt::format("RolloutPolicy {} may hold the listed nodes back; {}", chosen->metadata.name, report));
}

Result<RolloutInputs> InputsFromCluster(const CommandLine& line) {
  for (const std::string_view option : {"--pool", "--nodes", "--with"}) {
    if (!line.Has(option)) continue;
    return Error(ErrorKind::kInvalid,
                 fmt::format("{} cannot be combined with --kubeconfig, which reads the cluster", option));
  }
  if (line.words().size() != 1) return Error(ErrorKind::kInvalid, "name one pool");
  const std::string& name = line.words().front();
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

void PrintRolloutWarnings(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) PrintToStderr(fmt::format("pintle: rollout: {}\n", Printable(warning)));
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
  return simulation.answer.end ? ExitStatus::kFine : ExitStatus::kDiffers;
}

}  // namespace

Result<RolloutPreview> PreviewRollout(const RolloutQuestion& question) {
  const RolloutInputs inputs = TRY(ReadFiles(question));
  return PreviewRollout(question, inputs.pool, inputs.objects);
}

Result<RolloutPreview> PreviewRollout(const RolloutQuestion& question, const api::MachineConfigPool& pool,
                                      const ClusterObjects& objects) {
  RolloutPreview preview;
  const auto decide = [&](const pool::Situation& situation) {
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
  const RolloutInputs inputs = TRY(line.Has("--kubeconfig") ? InputsFromCluster(line) : InputsFromFiles(line));
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
  return updates_nodes || answer.max_unavailable_error ? ExitStatus::kDiffers : ExitStatus::kFine;
}

}  // namespace pintle::ctl
