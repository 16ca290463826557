// SPDX-License-Identifier: Apache-2.0
#include "plan/actions.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace pintle::plan {
namespace {

using Reasons = std::vector<std::string>;

bool HasType(const Action& action, std::string_view type) { return action.what.type == type; }

// Returns the changes of the OS.  Each of them is a reason to reboot, since they take effect only with the next boot.
Reasons ReasonsInTheOs(const Difference& difference) {
  Reasons reasons;
  const auto add = [&](bool differs, const char* reason) {
    if (differs) reasons.emplace_back(reason);
  };
  add(difference.os_image, "the OS image changes");
  add(difference.kernel_arguments, "kernel arguments change");
  add(difference.fips, "FIPS mode changes");
  add(difference.kernel_type, "the kernel type changes");
  add(difference.extensions, "extensions change");
  return reasons;
}

// Collects the actions of policies, and the changes that no policy covers.
class ActionCollector {
 public:
  void Add(const std::vector<api::NodeDisruptionAction>& actions, const std::string& reason) {
    for (const api::NodeDisruptionAction& action : actions) actions_.push_back({action, {reason}});
  }
  void AddUncovered(const std::string& changed) { uncovered_.push_back(changed + ": no policy covers it"); }

  // Returns only a reboot, with all reasons for it, if there is a reason.  Otherwise returns the policies' actions.
  std::vector<Action> Take(Reasons reboot_reasons) && {
    std::move(uncovered_.begin(), uncovered_.end(), std::back_inserter(reboot_reasons));
    for (Action& action : actions_) {
      if (!HasType(action, action_type::kReboot)) continue;
      std::move(action.reasons.begin(), action.reasons.end(), std::back_inserter(reboot_reasons));
    }
    if (!reboot_reasons.empty()) {
      return {{{std::string(action_type::kReboot), {}, {}}, std::move(reboot_reasons)}};
    }
    return WithoutNone(std::move(actions_));
  }

 private:
  // Removes the actions of the type None if there are others.  Otherwise, only one stays, with the reasons of all.
  static std::vector<Action> WithoutNone(std::vector<Action> actions) {
    Action none{{std::string(action_type::kNone), {}, {}}, {}};
    for (const Action& action : actions) {
      if (HasType(action, action_type::kNone))
        none.reasons.insert(none.reasons.end(), action.reasons.begin(), action.reasons.end());
    }
    const bool had_none = !none.reasons.empty();
    std::erase_if(actions, [](const Action& action) { return HasType(action, action_type::kNone); });
    if (actions.empty() && had_none) actions.push_back(std::move(none));
    return actions;
  }

  std::vector<Action> actions_;
  Reasons uncovered_;
};

std::string_view DirectoryOf(std::string_view path) { return path.substr(0, path.rfind('/')); }

// The action that a changed file needs on a node that is not in the cluster yet, from the lightest to the heaviest.
enum class FirstBootAction { kNone, kReload, kRestart, kReboot };

FirstBootAction FirstBootActionForFile(std::string_view path) {
  if (path == "/etc/kubernetes/kubelet-ca.crt" || path == "/var/lib/kubelet/config.json") return FirstBootAction::kNone;
  if (DirectoryOf(path) == "/etc/nmstate/openshift") return FirstBootAction::kNone;
  if (path == "/etc/containers/registries.conf" || path == "/etc/containers/policy.json" ||
      path == "/etc/machine-config-daemon/no-reboot/containers-gpg.pub" ||
      DirectoryOf(path) == "/etc/containers/registries.d") {
    return FirstBootAction::kReload;
  }
  if (path == "/etc/pki/ca-trust/source/anchors/openshift-config-user-ca-bundle.crt") return FirstBootAction::kRestart;
  return FirstBootAction::kReboot;
}

}  // namespace

std::vector<Action> ActionsFor(const Difference& difference, const NodeDisruptionPolicy& policy) {
  Reasons reboot_reasons = ReasonsInTheOs(difference);
  if (reboot_reasons.empty() && !difference.files && !difference.units && !difference.passwd) {
    return {{{std::string(action_type::kNone), {}, {}}, {}}};
  }
  ActionCollector collector;
  for (const FileChange& change : difference.changed_files) {
    const api::FilePolicy* file = FindFilePolicy(policy, change.path);
    if (file == nullptr) {
      collector.AddUncovered(change.path);
    } else {
      collector.Add(file->actions, fmt::format("{}: the policy for {}", change.path, file->path));
    }
  }
  for (const UnitChange& change : difference.changed_units) {
    const api::UnitPolicy* unit = FindUnitPolicy(policy, change.name);
    if (unit == nullptr) {
      collector.AddUncovered(change.name);
    } else {
      collector.Add(unit->actions, fmt::format("{}: the policy for this unit", change.name));
    }
  }
  if (difference.passwd) collector.Add(policy.sshkey.actions, "users: the policy for SSH keys");
  return std::move(collector).Take(std::move(reboot_reasons));
}

std::string FirstBootActionFor(const Difference& difference) {
  if (!ReasonsInTheOs(difference).empty() || difference.units) return "reboot";
  FirstBootAction heaviest = FirstBootAction::kNone;
  for (const FileChange& change : difference.changed_files) {
    heaviest = std::max(heaviest, FirstBootActionForFile(change.path));
  }
  switch (heaviest) {
    case FirstBootAction::kNone:
      return "none";
    case FirstBootAction::kReload:
      return "reload crio";
    case FirstBootAction::kRestart:
      return "restart crio";
    case FirstBootAction::kReboot:
      break;
  }
  return "reboot";
}

Result<> ExpectKnownActions(std::span<const api::NodeDisruptionAction> actions) {
  constexpr std::string_view kKnown[] = {action_type::kReboot,  action_type::kDrain,        action_type::kReload,
                                         action_type::kRestart, action_type::kDaemonReload, action_type::kNone,
                                         action_type::kSpecial};
  for (const api::NodeDisruptionAction& action : actions) {
    if (std::find(std::begin(kKnown), std::end(kKnown), action.type) == std::end(kKnown)) {
      return Error(ErrorKind::kInvalid,
                   fmt::format("this version of Pintle does not know the action \"{}\"", action.type));
    }
    const bool needs_service = action.type == action_type::kReload || action.type == action_type::kRestart;
    if (needs_service && ServiceOf(action).empty()) {
      return Error(ErrorKind::kInvalid, fmt::format("the action \"{}\" does not name its service", action.type));
    }
  }
  return {};
}

Result<> ExpectKnownActions(const api::NodeDisruptionPolicy& policy) {
  for (const api::FilePolicy& covered : policy.files)
    TRY(ExpectKnownActions(covered.actions), "the policy for " + covered.path);
  for (const api::UnitPolicy& covered : policy.units)
    TRY(ExpectKnownActions(covered.actions), "the policy for " + covered.name);
  TRY(ExpectKnownActions(policy.sshkey.actions), "the policy for SSH keys");
  return {};
}

std::string_view ServiceOf(const api::NodeDisruptionAction& action) {
  if (action.reload) return action.reload->service_name;
  if (action.restart) return action.restart->service_name;
  return "";
}

}  // namespace pintle::plan
