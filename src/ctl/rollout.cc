// SPDX-License-Identifier: Apache-2.0
#include "ctl/rollout.h"

#include <fmt/core.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

#include "api/annotations.h"
#include "api/rollout_policy.h"
#include "base/printable.h"
#include "controller/watched.h"
#include "ctl/output.h"
#include "ctl/rollout_table.h"
#include "ctl/verbs.h"
#include "json/fields.h"
#include "json/parse.h"
#include "pool/membership.h"
#include "pool/rollout_policy.h"

namespace pintle::ctl {
namespace {

using PoolPointers = std::vector<const api::MachineConfigPool*>;
using NodeStates = std::vector<pool::NodeState>;

// Makes a pool that every cluster has, with its usual node selector.  If the pool is not among the objects, this
// selector decides which nodes belong to it.
api::MachineConfigPool StandardPool(std::string_view name) {
  api::MachineConfigPool pool;
  pool.metadata.name = name;
  pool.spec.node_selector.emplace().match_labels.emplace(fmt::format("{}{}", api::kRoleLabelPrefix, name), "");
  return pool;
}

bool HasRole(const api::Node& node) {
  const auto& labels = node.metadata.labels;
  return std::any_of(labels.begin(), labels.end(),
                     [](const auto& label) { return label.first.starts_with(api::kRoleLabelPrefix); });
}

enum class NodesFrom { kCluster, kFile };

// Sorts a cluster's nodes into its pools.
class Memberships {
 public:
  static Result<Memberships> Make(const api::MachineConfigPool& pool, const ClusterObjects& objects, NodesFrom from,
                                  std::vector<std::string>& warnings) {
    const api::MachineConfigPool standard[] = {StandardPool(api::kMasterPool), StandardPool(api::kWorkerPool)};
    PoolPointers all = {&pool};
    const auto add = [&](const api::MachineConfigPool& other) {
      const bool is_known = std::any_of(all.begin(), all.end(), [&](const api::MachineConfigPool* known) {
        return known->metadata.name == other.metadata.name;
      });
      if (!is_known) all.push_back(&other);
    };
    for (const auto& other : objects.pools) add(other);
    for (const auto& other : standard) add(other);

    const auto pools = TRY(pool::Pools::Make(all));
    Memberships memberships;
    for (const api::Node& node : objects.nodes) {
      const auto primary = pools.PrimaryOf(node);
      if (!primary) {
        warnings.push_back(primary.error().message());
        continue;
      }
      // A node without any role in a file counts as a node of this pool: it was probably listed for that reason.
      const bool is_unclaimed =
          from == NodesFrom::kFile && *primary == nullptr && !HasRole(node) && !pool::IsWindows(node);
      if (*primary == nullptr && !is_unclaimed) continue;
      memberships.nodes_.emplace_back(is_unclaimed ? pool.metadata.name : (*primary)->metadata.name, &node);
    }
    return memberships;
  }

  NodeStates Of(std::string_view pool) const {
    NodeStates members;
    for (const auto& [name, node] : nodes_) {
      if (name == pool) members.emplace_back(*node);
    }
    return members;
  }

 private:
  std::vector<std::pair<std::string, const api::Node*>> nodes_;
};

// The file may have only the nodes of the pool, without their labels.
NodeStates NodesInFile(const api::MachineConfigPool& pool, const ClusterObjects& objects,
                       const Memberships& memberships, std::vector<std::string>& warnings) {
  NodeStates members = memberships.Of(pool.metadata.name);
  if (!members.empty() || objects.nodes.empty()) return members;
  warnings.push_back(
      fmt::format("pool {} selects no node; all nodes of the file count as its nodes", pool.metadata.name));
  for (const api::Node& node : objects.nodes) members.emplace_back(node);
  return members;
}

template <typename T>
std::vector<const T*> Pointers(const std::vector<T>& objects) {
  std::vector<const T*> pointers;
  pointers.reserve(objects.size());
  for (const T& object : objects) pointers.push_back(&object);
  return pointers;
}

std::size_t CountUnavailable(const NodeStates& nodes) { return pool::Unavailable(nodes).size(); }

pool::Layering LayeringOf(const api::MachineConfigPool& pool, const ClusterObjects& objects) {
  pool::Layering layering = pool::FindLayering(pool, objects.os_configs, objects.os_builds);
  if (layering.build == nullptr && objects.lone_os_build) layering.build = &*objects.lone_os_build;
  return layering;
}

const api::MachineConfigPool* PoolNamed(std::string_view name, const ClusterObjects& objects) {
  const auto found = std::find_if(objects.pools.begin(), objects.pools.end(),
                                  [&](const auto& pool) { return pool.metadata.name == name; });
  return found == objects.pools.end() ? nullptr : &*found;
}

// Returns the state of the master pool's update, for which arbiters wait.
std::optional<pool::Masters> MastersOf(const ClusterObjects& objects, const Memberships& memberships) {
  const api::MachineConfigPool* masters = PoolNamed(api::kMasterPool, objects);
  if (masters == nullptr) return std::nullopt;
  const NodeStates nodes = memberships.Of(api::kMasterPool);
  const pool::Rollout rollout = pool::Decide({.pool = *masters,
                                              .nodes = nodes,
                                              .machine_config_nodes = {},
                                              .layering = LayeringOf(*masters, objects),
                                              .features = {},
                                              .cert_expirys = {},
                                              .operator_node = {},
                                              .configs = {},
                                              .other_pools = {},
                                              .os_image_streams = {},
                                              .unavailable_arbiters = 0,
                                              .masters = {},
                                              .now = {}});
  return pool::Masters{.paused = masters->spec.paused,
                       .unavailable = rollout.unavailable.size(),
                       .candidates = rollout.candidates.nodes.size()};
}

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
  // A condition's time changes when the status is written, which a preview does not do.
  for (api::Condition& condition : answer.status.conditions) condition.last_transition_time.reset();
  return answer;
}

Result<api::MachineConfigPool> ReadPool(const std::string& path) {
  ClusterObjects objects;
  TRY(AddFile(path, "MachineConfigPool", objects));
  if (objects.pools.size() == 1) return std::move(objects.pools.front());
  return Error(ErrorKind::kInvalid,
               fmt::format("{}: holds {} MachineConfigPools instead of one", path, objects.pools.size()));
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

Result<RolloutPreview> PreviewRolloutFromFiles(const CommandLine& line) {
  if (!line.words().empty()) {
    return Error(ErrorKind::kInvalid, fmt::format("\"{}\" is no option (see --help); a pool by its name is looked up "
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
  return PreviewRollout(question);
}

// The preview lists the updates that the pool allows.  Only the controller knows the answers to the gates of a policy.
void AddPolicyWarning(const Result<std::vector<api::RolloutPolicy>>& policies, const api::MachineConfigPool& pool,
                      std::vector<std::string>& warnings) {
  if (!policies) {
    warnings.push_back(fmt::format("the RolloutPolicies cannot be read, and may hold the listed nodes back: {}",
                                   policies.error().message()));
    return;
  }
  std::vector<const api::RolloutPolicy*> all;
  for (const api::RolloutPolicy& policy : *policies) all.push_back(&policy);
  const api::RolloutPolicy* const chosen = pool::ChoosePolicy(pool, all).policy;
  if (chosen == nullptr) return;
  std::string report = "it has reported nothing yet";
  for (const api::RolloutPoolStatus& status : chosen->status.pools) {
    if (status.name == pool.metadata.name) report = fmt::format("it reports {}: {}", status.phase, status.message);
  }
  warnings.push_back(fmt::format("RolloutPolicy {} may hold the listed nodes back; {}", chosen->metadata.name,
                                 PrintableLines(report)));
}

Result<RolloutPreview> PreviewRolloutFromCluster(const CommandLine& line) {
  for (const std::string_view option : {"--pool", "--nodes", "--with"}) {
    if (!line.Has(option)) continue;
    return Error(ErrorKind::kInvalid,
                 fmt::format("{} does not go with --kubeconfig, which asks the cluster itself", option));
  }
  if (line.words().size() != 1) return Error(ErrorKind::kInvalid, "name one pool");
  const std::string& name = line.words().front();
  auto cluster = TRY(LiveCluster::Of(line));
  const ClusterObjects objects = TRY(cluster.Objects());
  const api::MachineConfigPool* const pool = PoolNamed(name, objects);
  if (pool == nullptr) return Error(ErrorKind::kNotFound, fmt::format("the cluster has no pool \"{}\"", name));
  RolloutQuestion question = ReadSettings(line);
  if (question.operator_node.empty()) question.operator_node = TRY(cluster.OperatorNode());
  RolloutPreview preview = TRY(PreviewRollout(question, *pool, objects));
  AddPolicyWarning(cluster.All<api::RolloutPolicy>(), *pool, preview.warnings);
  return preview;
}

}  // namespace

Result<RolloutPreview> PreviewRollout(const RolloutQuestion& question) {
  const api::MachineConfigPool pool = TRY(ReadPool(question.pool_file));
  ClusterObjects objects;
  TRY(AddFile(question.nodes_file, "Node", objects));
  for (const std::string& file : question.other_files) TRY(AddFile(file, "", objects));
  return PreviewRollout(question, pool, objects);
}

Result<RolloutPreview> PreviewRollout(const RolloutQuestion& question, const api::MachineConfigPool& pool,
                                      const ClusterObjects& objects) {
  RolloutPreview preview;
  const NodesFrom from = question.nodes_file.empty() ? NodesFrom::kCluster : NodesFrom::kFile;
  const Memberships memberships = TRY(Memberships::Make(pool, objects, from, preview.warnings));
  const auto nodes = from == NodesFrom::kFile ? NodesInFile(pool, objects, memberships, preview.warnings)
                                              : memberships.Of(pool.metadata.name);
  const auto machine_config_nodes = Pointers(objects.machine_config_nodes);
  const auto other_pools = Pointers(objects.pools);
  const bool has_arbiter = objects.control_plane_topology == pool::kArbiterTopology;
  const bool is_master = pool.metadata.name == api::kMasterPool;
  const bool is_arbiter = pool.metadata.name == api::kArbiterPool;

  const pool::Situation situation = {
      .pool = pool,
      .nodes = nodes,
      .machine_config_nodes = machine_config_nodes,
      .layering = LayeringOf(pool, objects),
      .features = pool::Features::Named(question.feature_gates),
      .cert_expirys = objects.cert_expirys,
      .operator_node = question.operator_node,
      .configs = objects.configs,
      .other_pools = other_pools,
      .os_image_streams = objects.os_image_streams,
      .unavailable_arbiters = has_arbiter && is_master ? CountUnavailable(memberships.Of(api::kArbiterPool)) : 0,
      .masters = has_arbiter && is_arbiter ? MastersOf(objects, memberships) : std::nullopt,
      .now = std::nullopt,
  };
  pool::Rollout rollout = pool::Decide(situation);
  preview.table = RolloutTable(situation, rollout);
  preview.answer = RolloutAnswerOf(situation, std::move(rollout));
  return preview;
}

Result<ExitStatus> Rollout(const CommandLine& line) {
  const Form form = FormOf(line);
  const RolloutPreview preview =
      TRY(line.Has("--kubeconfig") ? PreviewRolloutFromCluster(line) : PreviewRolloutFromFiles(line));
  for (const std::string& warning : preview.warnings) PrintToStderr(fmt::format("pintle: rollout: {}\n", warning));
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
