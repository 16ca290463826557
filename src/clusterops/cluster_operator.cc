// SPDX-License-Identifier: Apache-2.0
#include "clusterops/cluster_operator.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "api/conditions.h"
#include "base/first_characters.h"
#include "base/printable.h"
#include "clusterops/pool_summary.h"
#include "clusterops/related_objects.h"

namespace pintle::clusterops {
namespace {

// The names of the versions that the status has.
constexpr std::string_view kOperator = "operator";
constexpr std::string_view kOperatorImage = "operator-image";

// The types of conditions, and the reason of an event.
constexpr std::string_view kProgressing = "Progressing";
constexpr std::string_view kDegraded = "Degraded";
constexpr const char* kVersionChanged = "OperatorVersionChanged";

// Returns the version with this name, or nullptr.
const std::string* VersionOf(const std::vector<api::OperandVersion>& versions, std::string_view name) {
  const auto found = std::find_if(versions.begin(), versions.end(),
                                  [&](const api::OperandVersion& version) { return version.name == name; });
  return found == versions.end() ? nullptr : &found->version;
}

std::vector<api::OperandVersion> WantedVersions(const ReportInputs& inputs) {
  std::vector<api::OperandVersion> versions = {{std::string(kOperator), inputs.release.version}};
  std::string image = inputs.release.operator_image;
  if (image.empty()) {
    const std::string* const known = VersionOf(inputs.before.versions, kOperatorImage);
    if (known != nullptr) image = *known;
  }
  if (!image.empty()) versions.push_back({std::string(kOperatorImage), std::move(image)});
  return versions;
}

bool HasAll(const std::vector<api::OperandVersion>& versions, const std::vector<api::OperandVersion>& wanted) {
  return std::all_of(wanted.begin(), wanted.end(), [&](const api::OperandVersion& version) {
    const std::string* const known = VersionOf(versions, version.name);
    return known != nullptr && *known == version.version;
  });
}

// Sets a condition as all of OpenShift's operators do: the condition keeps its position, and it keeps its transition
// time unless its status changes.  A message that is longer than the API allows is cut off.
void SetOperatorCondition(std::vector<api::Condition>& conditions, api::Condition condition) {
  condition.message = FirstCharacters(PrintableLines(condition.message), api::kLongestConditionMessage);
  const auto known = std::find_if(conditions.begin(), conditions.end(),
                                  [&](const api::Condition& other) { return other.type == condition.type; });
  if (known == conditions.end()) {
    conditions.push_back(std::move(condition));
    return;
  }
  if (known->status == condition.status && known->last_transition_time) {
    condition.last_transition_time = known->last_transition_time;
  }
  *known = std::move(condition);
}

// Makes the report condition by condition.
class Reporter {
 public:
  explicit Reporter(const ReportInputs& inputs)
      : inputs_(inputs),
        version_(inputs.release.version),
        wanted_(WantedVersions(inputs)),
        is_installed_(HasAll(inputs.before.versions, wanted_)),
        is_first_release_(VersionOf(inputs.before.versions, kOperator) == nullptr) {
    report_.status = inputs.before;
  }

  OperatorReport Make() && {
    const bool is_complete = !inputs_.failure && inputs_.waiting.empty();
    if (!is_installed_ && !HasBegun()) EmitBegin();
    if (is_complete) {
      if (!is_installed_ && !is_first_release_) Emit("version changed", inputs_.before.versions);
      report_.status.versions = wanted_;
    }
    Set("Available", "True", "AsExpected", "Cluster has deployed " + VersionsText(report_.status.versions));
    SetProgressing(is_complete);
    SetDegraded();
    SetUpgradeable();
    report_.status.related_objects = RelatedObjects();
    report_.status.extension = Extension();
    return std::move(report_);
  }

 private:
  void Set(std::string_view type, std::string_view status, std::string reason, std::string message) {
    SetOperatorCondition(report_.status.conditions, {.type = std::string(type),
                                                     .status = std::string(status),
                                                     .last_transition_time = inputs_.now,
                                                     .reason = std::move(reason),
                                                     .message = std::move(message)});
  }

  // Emits an event about the change from the versions `from` to the release.
  void Emit(std::string_view action, const std::vector<api::OperandVersion>& from) {
    report_.events.push_back({Importance::kNormal, kVersionChanged,
                              fmt::format("clusteroperator/machine-config {} from {} to {}", action, VersionsText(from),
                                          VersionsText(wanted_))});
  }

  void SetProgressing(bool is_complete) {
    const bool progresses = !is_complete && !is_installed_;
    if (inputs_.failure) {
      // A release that is installed already is not applied again, so nothing progresses.
      return progresses ? Set(kProgressing, "True", "", fmt::format("Unable to apply {}", version_))
                        : Set(kProgressing, "False", "", fmt::format("Error while reconciling {}", version_));
    }
    if (!progresses) return Set(kProgressing, "False", "", fmt::format("Cluster version is {}", version_));
    std::string message =
        fmt::format("{} {}", is_first_release_ ? "Cluster is bootstrapping" : "Working towards", version_);
    Set(kProgressing, "True", "", std::move(message));
  }

  // Emits the event that the change to the release begins, even if the release fails at once or changes nothing.
  void EmitBegin() {
    if (!is_first_release_) return Emit("started a version change", inputs_.before.versions);
    report_.events.push_back(
        {Importance::kNormal, kVersionChanged,
         fmt::format("clusteroperator/machine-config is bootstrapping to {}", VersionsText(wanted_))});
  }

  // Returns whether the condition Progressing is true for this release already.
  bool HasBegun() const {
    const api::Condition* const known = api::FindCondition(inputs_.before.conditions, kProgressing);
    return known != nullptr && known->status == "True" && known->message.ends_with(" " + version_);
  }

  void SetDegraded() {
    if (!inputs_.failure) return Set(kDegraded, "False", "", "");
    const std::string reason = inputs_.failure->task + "Failed";
    const std::string message = is_installed_
                                    ? fmt::format("Failed to resync {} because: {}", version_, inputs_.failure->why)
                                    : fmt::format("Unable to apply {}: {}", version_, inputs_.failure->why);
    Set(kDegraded, "True", reason, message);
    const api::Condition* const known = api::FindCondition(inputs_.before.conditions, kDegraded);
    const api::Condition& set = *api::FindCondition(report_.status.conditions, kDegraded);
    const bool is_known = known != nullptr && known->reason == set.reason && known->message == set.message;
    if (!is_known) report_.events.push_back({Importance::kWarning, "OperatorDegraded: " + reason, set.message});
  }

  void SetUpgradeable() {
    const auto some_pool_is = [&](std::string_view type) {
      return std::any_of(inputs_.pools.begin(), inputs_.pools.end(),
                         [&](const api::MachineConfigPool* pool) { return HasTrueCondition(*pool, type); });
    };
    constexpr std::string_view kRemedy = "please see `oc get mcp` for further details and resolve before upgrading";
    if (some_pool_is("Degraded")) {
      return Set("Upgradeable", "False", "DegradedPool",
                 fmt::format("One or more machine config pools are degraded, {}", kRemedy));
    }
    if (some_pool_is("BuildInterrupted")) {
      return Set("Upgradeable", "False", "InterruptedBuild",
                 fmt::format("One or more machine config pools' builds have been interrupted, {}", kRemedy));
    }
    Set("Upgradeable", "True", "AsExpected", "");
  }

  // Returns the summary of each pool, and the reason why the release is not complete.
  json::Value Extension() const {
    json::Value extension = json::Value::object();
    for (const api::MachineConfigPool* pool : inputs_.pools) {
      extension[pool->metadata.name] = Shortened(PoolSummary(*pool), api::kLongestConditionMessage);
    }
    const std::string& why = inputs_.failure ? inputs_.failure->why : inputs_.waiting;
    if (!why.empty()) extension["lastSyncError"] = Shortened(why, api::kLongestConditionMessage);
    return extension;
  }

  const ReportInputs& inputs_;
  const std::string& version_;
  const std::vector<api::OperandVersion> wanted_;
  const bool is_installed_;      // The status has all versions of the release already.
  const bool is_first_release_;  // No release has been installed completely yet.
  OperatorReport report_;
};

}  // namespace

const TaskFailure* FirstFailure(std::span<const TaskFailure> failures) {
  const auto place = [](const TaskFailure& failure) {
    return std::find(kOperatorTasks.begin(), kOperatorTasks.end(), failure.task) - kOperatorTasks.begin();
  };
  const auto first = std::min_element(failures.begin(), failures.end(),
                                      [&](const TaskFailure& a, const TaskFailure& b) { return place(a) < place(b); });
  return first == failures.end() ? nullptr : &*first;
}

std::string VersionsText(std::span<const api::OperandVersion> versions) {
  std::string text;
  for (const api::OperandVersion& version : versions) {
    text += fmt::format("{}{{{} {}}}", text.empty() ? "" : " ", version.name, version.version);
  }
  return fmt::format("[{}]", text);
}

OperatorReport ReportOf(const ReportInputs& inputs) { return Reporter(inputs).Make(); }

}  // namespace pintle::clusterops
