// SPDX-License-Identifier: Apache-2.0
#include "controller/pause_report.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "api/waiting_files.h"
#include "controller/pause_condition.h"
#include "json/fields.h"
#include "json/parse.h"
#include "pool/membership.h"
#include "pool/target.h"

namespace pintle::controller {
namespace {

// Returns the config that a node has after its current update.  A failing node stays at its current config.
std::string_view ConfigOf(const pool::NodeState& node) {
  const bool has_desired = !node.desired_config().empty() && !node.is_failing();
  return has_desired ? node.desired_config() : node.current_config();
}

// The nodes that would be given the target if the pool were not paused.
struct WaitingNodes {
  std::set<std::string, std::less<>> configs;  // The configs of these nodes.
  std::size_t count = 0;
  bool needs_image = false;  // A node would also be given another image.
};

WaitingNodes FindWaiting(const api::MachineConfigPool& pool, std::span<const pool::NodeState> nodes,
                         const pool::Layering& layering) {
  const pool::Target target(pool, layering);
  WaitingNodes waiting;
  if (pool.spec.configuration.name.empty()) return waiting;
  for (const pool::NodeState& node : nodes) {
    if (target.IsAssignedTo(node) || !pool::IsManaged(node.node())) continue;
    ++waiting.count;
    waiting.configs.emplace(ConfigOf(node));
    if (node.desired_image().value_or("") != layering.image()) waiting.needs_image = true;
  }
  return waiting;
}

bool IsBusy(const pool::NodeState& node) { return !node.is_done() && !node.is_failing(); }

std::size_t CountBusy(const PauseInputs& inputs) {
  return static_cast<std::size_t>(std::count_if(inputs.nodes.begin(), inputs.nodes.end(), IsBusy));
}

// Returns whether a node is on its way from one config to another.
bool IsChanging(const pool::NodeState& node) { return IsBusy(node) && pool::IsManaged(node.node()); }

// Returns the configs that changing nodes still have.
std::set<std::string, std::less<>> ConfigsOfChanging(std::span<const pool::NodeState> nodes) {
  std::set<std::string, std::less<>> configs;
  for (const pool::NodeState& node : nodes) {
    if (IsChanging(node)) configs.emplace(node.current_config());
  }
  return configs;
}

// A new image of a layered pool waits as well, even if no config changes.
void AddImage(PauseReport& report) {
  report.other.emplace_back("Changing the OS image that is built for the pool");
  report.reasons.emplace_back("the OS image changes");
  report.reboots = report.drains = true;
  report.has_only_bundles = false;
}

// Finds the renders that are newer than the nodes' configs, up to the target.
void FindRenders(const PauseInputs& inputs, const WaitingNodes& waiting, PauseReport& report) {
  const std::string& target = inputs.pool.spec.configuration.name;
  const auto created = [&](std::string_view name) -> std::optional<WallTime> {
    const auto found = std::find_if(inputs.renders.begin(), inputs.renders.end(),
                                    [&](const KnownRender& render) { return render.name == name; });
    return found == inputs.renders.end() ? std::nullopt : std::optional(found->created);
  };
  std::optional<WallTime> newest_on_nodes;
  for (const std::string& name : waiting.configs) newest_on_nodes = std::max(newest_on_nodes, created(name));

  std::vector<KnownRender> later;
  for (const KnownRender& render : inputs.renders) {
    const bool is_on_nodes = waiting.configs.contains(render.name);
    const bool is_newer = newest_on_nodes && render.created > *newest_on_nodes;
    if (!is_on_nodes && render.name != target && is_newer) later.push_back(render);
  }
  // A render that is newer than the target was taken back, so it does not wait.
  const auto target_created = created(target);
  std::erase_if(later, [&](const KnownRender& render) { return target_created && render.created > *target_created; });
  std::stable_sort(later.begin(), later.end(), [](const auto& a, const auto& b) { return a.created < b.created; });
  if (!later.empty()) report.waits_since = later.front().created;
  for (KnownRender& render : later) report.renders.push_back(std::move(render.name));
  report.renders.push_back(target);
  // A target that is older than the nodes' configs was chosen again at an unknown time.  Then the time of the condition
  // counts.
  const bool is_new = target_created && (!newest_on_nodes || *target_created > *newest_on_nodes);
  if (!report.waits_since && is_new) report.waits_since = target_created;
}

// Returns the time since which the pool's condition has reported that something waits.  Returns nullopt if the
// condition does not report this.
std::optional<WallTime> KnownSince(const api::MachineConfigPool& pool) {
  for (const api::Condition& condition : pool.status.conditions) {
    if (condition.type == kPausedPending && condition.status == "True" && condition.last_transition_time) {
      return condition.last_transition_time->at;
    }
  }
  return std::nullopt;
}

// Returns the waiting files that a node reports, or an empty list if its annotation is missing or malformed.
std::vector<api::WaitingFile> WaitingFilesOf(const api::Node& node) {
  const std::string* const text = api::Find(node.metadata.annotations, api::kWaitingFilesAnnotation);
  auto value = text == nullptr ? Result<json::Value>(json::Value()) : json::Parse(*text);
  if (!value || value->is_null()) return {};
  json::Report problems;
  auto files = json::Decode<std::vector<api::WaitingFile>>(*std::move(value), problems);
  return problems.ToResult() ? std::move(files) : std::vector<api::WaitingFile>();
}

// Adds the files that nodes report.  If nodes have different certificates in the same file, the certificates that
// expire first count.
void AddWaitingFiles(const PauseInputs& inputs, PauseReport& report) {
  std::map<std::string, WaitingBundle> bundles;
  std::set<std::string> paths;
  for (const pool::NodeState& node : inputs.nodes) {
    const auto files = WaitingFilesOf(node.node());
    if (!files.empty()) ++report.nodes_with_waiting_files;
    for (const api::WaitingFile& file : files) {
      paths.insert(file.path);
      if (!file.valid_until && file.path != kKubeletAuthorities) continue;
      WaitingBundle bundle{.path = file.path, .valid_until = {}, .subject = file.subject};
      if (file.valid_until) bundle.valid_until = file.valid_until->at;
      const auto [known, is_new] = bundles.emplace(file.path, bundle);
      const auto& until = known->second.valid_until;
      if (!is_new && bundle.valid_until && (!until || *bundle.valid_until < *until)) known->second = std::move(bundle);
    }
  }
  report.waiting_files.assign(paths.begin(), paths.end());
  for (auto& [path, bundle] : bundles) report.bundles.push_back(std::move(bundle));
}

// Leaves out the files that nodes take from the ControllerConfig and not from a rendered config.
void LeaveOutFilesOfControllerConfig(PauseReport& report) {
  std::erase_if(report.bundles, [](const WaitingBundle& bundle) {
    return bundle.path == kKubeletAuthorities || bundle.path == kCloudAuthorities;
  });
}

// Returns whether the policy CertificatesPass allows the difference.
bool MayPass(const PausedDifference& difference) {
  return difference.has_only_bundles && !difference.reboots && !difference.drains && difference.obstacle.empty();
}

// Returns whether nodes are on their way to the target, and the whole difference between their configs and the target
// may pass.
bool MayNodesContinue(const PauseInputs& inputs) {
  const auto changes_image = [&](const pool::NodeState& node) {
    return IsChanging(node) && node.current_image().value_or("") != inputs.layering.image();
  };
  return std::none_of(inputs.nodes.begin(), inputs.nodes.end(), changes_image) &&
         MayPass(DifferenceOf(inputs.pool.spec.configuration.name, ConfigsOfChanging(inputs.nodes), inputs.configs,
                              inputs.policy, inputs.overrides));
}

bool Passes(const PauseInputs& inputs, const PauseReport& report) {
  if (!report.is_paused || report.policy != PausePolicy::kCertificatesPass) return false;
  if (report.waiting_nodes > 0) return MayPass(report);
  // Nodes may have been given the target despite the pause.  Then the pool passes until they are done.  If their update
  // changes more than certificates, it was under way when the pool was paused, and the pool does not pass.
  return MayNodesContinue(inputs);
}

}  // namespace

StatedPolicy StatedPolicyOf(const api::MachineConfigPool& pool) {
  const std::string* const text = api::Find(pool.metadata.annotations, kPausePolicyAnnotation);
  if (text == nullptr || text->empty() || *text == "Strict") return {};
  if (*text == "CertificatesPass") return {PausePolicy::kCertificatesPass, ""};
  return {PausePolicy::kStrict, *text};
}

std::optional<WallTime> PauseReport::kubelet_authority_until() const {
  if (!waits()) return std::nullopt;
  const auto found = std::find_if(bundles.begin(), bundles.end(),
                                  [](const WaitingBundle& bundle) { return bundle.path == kKubeletAuthorities; });
  return found == bundles.end() ? std::nullopt : found->valid_until;
}

std::vector<std::string> ConfigsToCompare(const api::MachineConfigPool& pool, std::span<const pool::NodeState> nodes,
                                          const pool::Layering& layering) {
  if (pool.spec.configuration.name.empty()) return {};
  std::set<std::string, std::less<>> configs = FindWaiting(pool, nodes, layering).configs;
  const bool may_pass = pool.spec.paused && StatedPolicyOf(pool).policy == PausePolicy::kCertificatesPass;
  if (configs.empty() && may_pass) configs = ConfigsOfChanging(nodes);
  if (configs.empty()) return {};
  configs.insert(pool.spec.configuration.name);
  return {configs.begin(), configs.end()};
}

PauseReport ReportPause(const PauseInputs& inputs) {
  PauseReport report;
  report.is_paused = inputs.pool.spec.paused;
  report.nodes = inputs.nodes.size();
  StatedPolicy stated = StatedPolicyOf(inputs.pool);
  report.policy = stated.policy;
  report.policy_problem = std::move(stated.problem);
  if (!report.is_paused) return report;
  report.busy_nodes = CountBusy(inputs);
  const WaitingNodes waiting = FindWaiting(inputs.pool, inputs.nodes, inputs.layering);
  report.waiting_nodes = waiting.count;
  if (waiting.count > 0) {
    static_cast<PausedDifference&>(report) = DifferenceOf(inputs.pool.spec.configuration.name, waiting.configs,
                                                          inputs.configs, inputs.policy, inputs.overrides);
    if (waiting.needs_image) AddImage(report);
    FindRenders(inputs, waiting, report);
  }
  if (inputs.has_controller_config) LeaveOutFilesOfControllerConfig(report);
  if (report.policy == PausePolicy::kStrict) AddWaitingFiles(inputs, report);
  const bool waits = report.waiting_nodes > 0 || report.nodes_with_waiting_files > 0;
  if (waits && !report.waits_since) report.waits_since = KnownSince(inputs.pool).value_or(inputs.now);
  report.passes = Passes(inputs, report);
  return report;
}

}  // namespace pintle::controller
