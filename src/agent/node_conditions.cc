// SPDX-License-Identifier: Apache-2.0
#include "agent/node_conditions.h"

#include <fmt/core.h>

#include <algorithm>

#include "api/annotations.h"
#include "api/conditions.h"
#include "base/first_characters.h"
#include "base/printable.h"

namespace pintle::agent {
namespace {

constexpr std::string_view kNotYetSet = "not-yet-set";

constexpr std::string_view kTrue = "True";
constexpr std::string_view kFalse = "False";
constexpr std::string_view kUnknown = "Unknown";

constexpr std::string_view kUpdatePrepared = "UpdatePrepared";
constexpr std::string_view kUpdateExecuted = "UpdateExecuted";
constexpr std::string_view kUpdatePostActionComplete = "UpdatePostActionComplete";
constexpr std::string_view kUpdated = "Updated";
constexpr std::string_view kResumed = "Resumed";
constexpr std::string_view kDrained = "Drained";
constexpr std::string_view kAppliedFilesAndOs = "AppliedFilesAndOS";
constexpr std::string_view kAppliedFiles = "AppliedFiles";
constexpr std::string_view kAppliedOsImage = "AppliedOSImage";
constexpr std::string_view kImagePulled = "ImagePulledFromRegistry";
constexpr std::string_view kRebootedNode = "RebootedNode";
constexpr std::string_view kNodeDegraded = "NodeDegraded";

// The conditions of a new MachineConfigNode.  In image mode, the object should have other conditions.  But the agent
// recognizes the mode only by the conditions of an existing object, so it writes these conditions, and the Machine
// Config Operator replaces them.
constexpr std::string_view kAllTypes[] = {
    kUpdatePrepared,
    kUpdateExecuted,
    kUpdatePostActionComplete,
    "UpdateComplete",
    kResumed,
    kDrained,
    kAppliedFilesAndOs,
    "Cordoned",
    kRebootedNode,
    kUpdated,
    "Uncordoned",
    kNodeDegraded,
    "PinnedImageSetsDegraded",
    "PinnedImageSetsProgressing",
};

// Makes a condition whose reason is the same as its type.
api::Condition ConditionOf(std::string_view type, std::string_view status, std::string_view message) {
  return api::MakeCondition(type, status, type, message);
}

// Makes the condition UpdateExecuted, with the name of a part as its reason, and the condition of this part.
ProgressReport Executed(std::string_view part, std::string_view status, std::string_view message,
                        std::string_view part_status, std::string_view part_message) {
  return {.parent = api::MakeCondition(kUpdateExecuted, status, part, message),
          .child = api::MakeCondition(part, part_status, fmt::format("{}{}", kUpdateExecuted, part), part_message)};
}

bool ChangesImage(const plan::Difference& difference) {
  return difference.os_image || difference.extensions || difference.kernel_type;
}

// Leaving out "not" leaves two blanks in the message: people and tools expect that.
std::string_view NotUnless(bool needed) { return needed ? "" : "not"; }

std::vector<ProgressReport> FilesAndOs(const plan::Difference& difference, std::string_view status,
                                       std::string_view message, std::string_view files_and_os_message,
                                       std::string_view files_message, std::string_view image_message) {
  std::vector<ProgressReport> progress_reports;
  const auto add = [&](std::string_view part, std::string_view text, ProgressReport::When when) {
    progress_reports.push_back(Executed(part, status, message, status, text));
    progress_reports.back().when = when;
  };
  add(kAppliedFilesAndOs, files_and_os_message, ProgressReport::When::kWithoutImageMode);
  if (difference.files || difference.passwd) add(kAppliedFiles, files_message, ProgressReport::When::kInImageMode);
  if (ChangesImage(difference)) add(kAppliedOsImage, image_message, ProgressReport::When::kInImageMode);
  return progress_reports;
}

std::string ActionName(const plan::Action& action) {
  const std::string_view service = plan::ServiceOf(action.what);
  return service.empty() ? action.what.type : fmt::format("{} {}", action.what.type, service);
}

// Guesses the pool from the node's roles, because the agent does not read the pools.  The guess is used only if the
// MachineConfigNode names no pool yet.  For a node of a custom pool, the operator creates that object, and names the
// pool in it.
std::string PoolOf(const api::Node& node) {
  const auto& labels = node.metadata.labels;
  const bool is_control_plane =
      api::Find(labels, api::kMasterRoleLabel) != nullptr || api::Find(labels, api::kControlPlaneRoleLabel) != nullptr;
  return is_control_plane ? "master" : "worker";
}

std::string OrNotYetSet(const std::string& text) { return text.empty() ? std::string(kNotYetSet) : text; }

// Returns whether the nodes of the cluster report image mode.  They do if a feature gate is on.  The agent reads no
// feature gates, so it decides by the fields and conditions of the object.
bool ReportsImageMode(const api::MachineConfigNode& known) {
  const auto& conditions = known.status.conditions;
  return !known.spec.config_image.desired_image.empty() || known.status.config_image ||
         std::any_of(conditions.begin(), conditions.end(), [](const api::Condition& condition) {
           return condition.type == kAppliedFiles || condition.type == kAppliedOsImage ||
                  condition.type == kImagePulled;
         });
}

bool Applies(const ProgressReport& progress, bool in_image_mode) {
  switch (progress.when) {
    case ProgressReport::When::kAlways:
      return true;
    case ProgressReport::When::kWithoutImageMode:
      return !in_image_mode;
    case ProgressReport::When::kInImageMode:
      return in_image_mode;
  }
  return true;
}

// Returns whether the conditions of a moment are there already, the child included.  The Machine Config Operator
// compares only the parent, and so drops a changed child of an unchanged parent, such as the note that SSH keys need an
// update this time.
bool HasConditionsOf(const std::vector<api::Condition>& conditions, const ProgressReport& progress) {
  return api::HasSameReport(api::FindCondition(conditions, progress.parent.type), progress.parent) &&
         (!progress.child || api::HasSameReport(api::FindCondition(conditions, progress.child->type), *progress.child));
}

bool HasReported(const api::MachineConfigNodeStatus& known, const ProgressReport& progress) {
  const bool is_same = !progress.irreconcilable || json::Equal(known.irreconcilable_changes, *progress.irreconcilable);
  return is_same && HasConditionsOf(known.conditions, progress);
}

// Returns the new message of a condition that ends: the message names the update, and repeats the old message.
std::string MessageOfEndedCondition(const api::MachineConfigNode& known, const std::string& message) {
  const std::string& desired_image = known.spec.config_image.desired_image;
  const bool is_of_image =
      desired_image != (known.status.config_image ? known.status.config_image->current_image : std::string());
  const std::string purpose =
      !is_of_image ? "to " + known.spec.config_version.desired
                   : (desired_image.empty() ? std::string("to disable image mode") : "to " + desired_image);
  const std::string text = fmt::format("Action during update {}: {}", purpose, message);
  return FirstCharacters(PrintableLines(text), api::kLongestConditionMessage);
}

// Sets all other conditions to False.  A moment that sets Updated ends all earlier conditions of the update.
//
// The Machine Config Operator also has code that sets Updated to False when it reports any other moment, but that code
// never has an effect.  Here it is not needed, since NeedsUpdate, which sets Updated to False, precedes all other
// moments of an update.
void EndAllElse(const api::MachineConfigNode& known, const ProgressReport& progress, api::Time now,
                std::vector<api::Condition>& conditions) {
  for (api::Condition& condition : conditions) {
    if (condition.type == progress.parent.type || condition.status == kFalse) continue;
    condition.status = kFalse;
    condition.message = MessageOfEndedCondition(known, condition.message);
    condition.last_transition_time = now;
  }
}

std::vector<api::Condition> NextConditions(const api::MachineConfigNode& known, const ProgressReport& progress,
                                           api::Time now) {
  std::vector<api::Condition> conditions = known.status.conditions;
  if (HasConditionsOf(conditions, progress)) return conditions;
  if (progress.parent.type == kUpdated) EndAllElse(known, progress, now, conditions);
  api::PutCondition(conditions, progress.parent, now);
  if (progress.child) api::PutCondition(conditions, *progress.child, now);
  for (const std::string_view type : kAllTypes) {
    // Types are added only to an object without conditions.  If there are some, someone else has chosen the types.
    if (!known.status.conditions.empty() || api::FindCondition(conditions, type) != nullptr) continue;
    api::PutCondition(conditions,
                      api::MakeCondition(type, kFalse, "NotYetOccurred",
                                         fmt::format("This node has not yet entered the {} phase", type)),
                      now);
  }
  // The API requires a time in each condition, and other writers may have left it out.
  for (api::Condition& condition : conditions) {
    if (!condition.last_transition_time) condition.last_transition_time = now;
  }
  return conditions;
}

// Returns the desired config to report.  A config to which the node cannot be updated is not reported.
std::string DesiredOf(const ProgressReport& progress, const NodeFacts& node) {
  const bool is_impossible = progress.parent.type == kUpdatePrepared && progress.parent.status != kTrue;
  return is_impossible ? std::string(kNotYetSet) : OrNotYetSet(node.desired_config);
}

}  // namespace

bool operator==(const ProgressReport& a, const ProgressReport& b) {
  return json::Equal(a.parent, b.parent) && json::Equal(a.child, b.child) && a.when == b.when &&
         a.writes_spec == b.writes_spec && json::Equal(a.irreconcilable, b.irreconcilable);
}

NodeFacts FactsOf(const api::Node& node) {
  const api::ObjectMeta& metadata = node.metadata;
  return {.name = metadata.name,
          .uid = metadata.uid,
          .pool = PoolOf(node),
          .current_config = metadata.Annotation(api::kCurrentConfigAnnotation),
          .desired_config = metadata.Annotation(api::kDesiredConfigAnnotation),
          .current_image = metadata.Annotation(api::kCurrentImageAnnotation),
          .desired_image = metadata.Annotation(api::kDesiredImageAnnotation)};
}

namespace progress {

ProgressReport NeedsUpdate(std::string_view node) {
  return {.parent = ConditionOf(kUpdated, kFalse, fmt::format("Node {} needs an update", node))};
}

ProgressReport Updated(std::string_view node) {
  return {.parent = ConditionOf(kUpdated, kTrue, fmt::format("Node {} Updated", node))};
}

ProgressReport UpdatedBut(std::string_view node, const std::vector<plan::IrreconcilableChange>& changes) {
  ProgressReport progress = Updated(node);
  auto& reported = progress.irreconcilable.emplace();
  for (const plan::IrreconcilableChange& change : changes) reported.push_back({change.field_path, change.diff});
  return progress;
}

// In the Machine Config Operator's message the list of actions is always empty; here it has the actions of the plan.
ProgressReport Prepared(const std::vector<plan::Action>& actions, bool drains) {
  std::string list;
  for (const plan::Action& action : actions) list += (list.empty() ? "" : ", ") + ActionName(action);
  return {
      .parent = ConditionOf(kUpdatePrepared, kTrue,
                            fmt::format("Update Compatible. Post Cfg Actions: [{}] Drain Required: {}", list, drains)),
      .writes_spec = true};
}

ProgressReport NotCompatible(std::string_view from, std::string_view to, std::string_view why) {
  return {.parent = ConditionOf(kUpdatePrepared, kUnknown,
                                fmt::format("Update Failed compatibility validation. MachineConfigs {} and {} are not "
                                            "compatible. Err: {}",
                                            from, to, why))};
}

ProgressReport DrainNotRequired() {
  constexpr std::string_view kMessage = "Node Drain Not required for this update.";
  return Executed(kDrained, kUnknown, kMessage, kFalse, kMessage);
}

std::vector<ProgressReport> Applying(const plan::Difference& difference) {
  return FilesAndOs(difference, kUnknown, "Updating the Files and OS on disk as a part of the in progress phase",
                    fmt::format("Applying files and new OS config to node. OS will {} need an update. SSH Keys will "
                                "{} need an update",
                                NotUnless(ChangesImage(difference)), NotUnless(difference.passwd)),
                    "Applying files to node.", "Applying new OS config to node.");
}

std::vector<ProgressReport> Applied(const plan::Difference& difference) {
  return FilesAndOs(difference, kTrue, "Updated the Files and OS on disk as a part of the in progress phase",
                    fmt::format("Applied files and new OS config to node. OS did {} need an update. SSH Keys did {} "
                                "need an update",
                                NotUnless(ChangesImage(difference)), NotUnless(difference.passwd)),
                    "Applied files to node.", "Applied new OS config to node.");
}

ProgressReport RebootNeeded() { return {.parent = ConditionOf(kRebootedNode, kUnknown, "Upgrade requires a reboot.")}; }

std::optional<ProgressReport> Done(const plan::Action& action) {
  const std::string_view type = action.what.type;
  const auto reloaded = [](std::string_view service) -> ProgressReport {
    return {.parent =
                ConditionOf(kUpdatePostActionComplete, kTrue, fmt::format("Node has reloaded service {}", service))};
  };
  if (type == plan::action_type::kNone) {
    return ProgressReport{
        .parent = api::MakeCondition(kUpdatePostActionComplete, kTrue, "None", "Changes do not require a reboot")};
  }
  if (type == plan::action_type::kReload) return reloaded(plan::ServiceOf(action.what));
  if (type == plan::action_type::kSpecial) return reloaded("crio");  // The operator's name for a reload of CRI-O.
  if (type == plan::action_type::kDaemonReload) return reloaded("daemon-reload");
  return std::nullopt;
}

ProgressReport Rebooted() { return {.parent = ConditionOf(kRebootedNode, kTrue, "Node has rebooted")}; }

ProgressReport Resuming(std::string_view config) {
  return {.parent = ConditionOf(
              kResumed, kTrue,
              fmt::format("In desired config {}. Resumed normal operations. Applying proper annotations.", config))};
}

ProgressReport Resumed(std::string_view config) {
  return {.parent =
              ConditionOf(kResumed, kTrue, fmt::format("In desired config {}. Resumed normal operations.", config))};
}

ProgressReport NotDegraded(std::string_view node) {
  return {.parent = ConditionOf(kNodeDegraded, kFalse, fmt::format("Node {} upgrade succeeded", node))};
}

ProgressReport Degraded(std::string_view node, std::string_view why) {
  return {.parent = ConditionOf(kNodeDegraded, kTrue, fmt::format("Node {} upgrade failure. {}", node, why))};
}

}  // namespace progress

std::optional<api::MachineConfigNodeStatus> NextStatus(const api::MachineConfigNode& known,
                                                       const ProgressReport& progress, const NodeFacts& node,
                                                       api::Time now) {
  const bool in_image_mode = ReportsImageMode(known);
  if (!Applies(progress, in_image_mode) || HasReported(known.status, progress)) return std::nullopt;
  api::MachineConfigNodeStatus next = known.status;
  next.conditions = NextConditions(known, progress, now);
  if (progress.irreconcilable) next.irreconcilable_changes = *progress.irreconcilable;
  // One more than the generation of the object that we know.  The Machine Config Operator writes this, because its next
  // write is of the spec, and that raises the generation by one.
  next.observed_generation = known.metadata.generation + 1;
  if (!next.config_version) next.config_version.emplace();
  next.config_version->desired = DesiredOf(progress, node);
  if (!node.current_config.empty()) next.config_version->current = node.current_config;
  if (in_image_mode) {
    next.config_image = {node.current_image, node.desired_image};
    // The API refuses a config image without any value.
    if (node.current_image.empty() && node.desired_image.empty()) next.config_image.reset();
  }
  return next;
}

std::optional<api::MachineConfigNodeSpec> NextSpec(const api::MachineConfigNode& known, const NodeFacts& node) {
  api::MachineConfigNodeSpec next;
  next.node.name = node.name;
  const std::string& pool = known.spec.pool.name;
  next.pool.name = pool.empty() || pool == kNotYetSet ? node.pool : pool;
  next.config_version.desired = OrNotYetSet(node.desired_config);
  // Server-side apply removes a field that the applied object does not name.
  if (ReportsImageMode(known)) next.config_image.desired_image = node.desired_image;
  if (json::Equal(next, known.spec)) return std::nullopt;
  return next;
}

api::MachineConfigNode NewMachineConfigNode(const NodeFacts& node) {
  api::MachineConfigNode created;
  created.metadata.name = node.name;
  created.metadata.owner_references.push_back({"v1", "Node", node.name, node.uid, {}, {}});
  created.spec = *NextSpec(created, node);
  return created;
}

}  // namespace pintle::agent
