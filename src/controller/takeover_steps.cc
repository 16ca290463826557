// SPDX-License-Identifier: Apache-2.0
#include "controller/takeover_steps.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "controller/takeover_additions.h"
#include "controller/takeover_daemons.h"
#include "controller/takeover_leases.h"
#include "controller/takeover_overrides.h"
#include "controller/takeover_pods.h"
#include "controller/takeover_record.h"
#include "controller/takeover_server.h"
#include "json/value.h"

namespace pintle::controller {
namespace {

constexpr const char* kOldOperator = "machine-config-operator";
constexpr const char* kOldController = "machine-config-controller";
constexpr const char* kOldOperatorLease = "machine-config";
constexpr const char* kOldControllerLease = "machine-config-controller";

// ---- taking over ----

// Starts Pintle's replicas: an undo that was cut short may have stopped them.
TakeoverStep OursStep(const TakeoverState& state) {
  TakeoverStep step{.name = "replicas", .is_done = Replicas(state.ours) != json::Value(0)};
  if (step.is_done) return step;
  step.write = ScaleOf(*state.ours, OurReplicasBefore(state));
  return step;
}

TakeoverStep LeasesStep(const TakeoverState& state, const TakeoverSettings& settings, WallTime now) {
  TakeoverStep step{.name = "leases"};
  // If nothing is left to scale down, the name of the holder is enough, and no renewal has to be seen.
  const bool are_others_stopped = IsStopped(state.operators) && IsStopped(state.controller);
  const auto is_led_by_ours = [&](const std::optional<api::Lease>& lease, const LeaseSight& sight) {
    return are_others_stopped ? IsHeldByPintle(lease, settings) : DoesPintleLeadBy(lease, sight, settings);
  };
  const bool is_led = is_led_by_ours(state.controller_lease, state.controller_sight);
  const bool is_ready = state.ours && NumberIn(state.ours->status, "readyReplicas") > 0;
  step.is_done = is_ready && is_led && is_led_by_ours(state.operator_lease, state.operator_sight);
  if (step.is_done) return step;
  if (!is_ready) {
    step.waits_for =
        fmt::format("a replica of the Deployment {}/{} is ready", settings.own_namespace, settings.own_deployment);
    return step;
  }
  step.write = WriteToHold(state.operator_lease, state.operator_sight, settings, now);
  if (!step.write) step.write = WriteToHold(state.controller_lease, state.controller_sight, settings, now);
  step.waits_for =
      fmt::format("a replica of the Deployment {}/{} holds and renews the Lease {}", settings.own_namespace,
                  settings.own_deployment, is_led ? kOldOperatorLease : kOldControllerLease);
  return step;
}

// ---- going back ----

// Ends Pintle's replicas, and waits until none of them may act by a lease any more.
TakeoverStep LeaveStep(const TakeoverState& state, const TakeoverSettings& settings) {
  const bool may_act = MayPintleActBy(state.controller_lease, state.controller_sight, settings) ||
                       MayPintleActBy(state.operator_lease, state.operator_sight, settings);
  TakeoverStep step{.name = "leave",
                    .is_done = IsHeldByOthers(state.controller_lease, settings) || (IsStopped(state.ours) && !may_act)};
  if (step.is_done) return step;
  step.waits_for = fmt::format(
      "the replicas of Pintle have ended, and the leases were released, or were not renewed until they expired; "
      "`kubectl get -n {} pods -o wide` lists the pods that are left: if the node of one is down, start its machine or "
      "delete its Node",
      settings.own_namespace);
  if (state.ours && Replicas(state.ours) != json::Value(0)) step.write = ScaleOf(*state.ours, 0);
  return step;
}

std::string HolderText(std::string_view program, const std::optional<WholeDeployment>& deployment) {
  const std::string text = fmt::format("{} holds its Lease", program);
  if (!deployment) return fmt::format("{}; its Deployment is missing: restore it", text);
  return fmt::format(
      "{0}; `kubectl describe -n {1} deployment {2}` and `kubectl logs -n {1} deployment/{2}` list the "
      "reason if it does not",
      text, deployment->metadata.namespace_name, deployment->metadata.name);
}

// Waits until the operator and its controller hold their leases, and then removes the traces of the holds.
TakeoverStep OperatorLeadsStep(const TakeoverState& state, const TakeoverSettings& settings,
                               const json::Value& before) {
  TakeoverStep step{.name = "leases", .is_done = true};
  const auto lives = [](const json::Value& replicas) { return replicas.is_integer() && replicas.integer() > 0; };
  // A Deployment that had no replicas takes no lease, so the takeover's hold on its lease is released.  But a pod that
  // has not ended may still act by the lease.
  const auto may_act_by = [&](const std::optional<api::Lease>& lease,
                              const std::optional<WholeDeployment>& deployment) {
    return IsHeldForTakeover(lease, settings) && !StopStep("leases", deployment, state).is_done;
  };
  if (lives(before["controller"]) && !IsHeldByOthers(state.controller_lease, settings)) {
    step.is_done = false;
    step.waits_for = HolderText(kOldController, state.controller);
  } else if (lives(before["operator"]) && !IsHeldByOthers(state.operator_lease, settings)) {
    step.is_done = false;
    step.waits_for = HolderText(kOldOperator, state.operators);
  } else if (may_act_by(state.operator_lease, state.operators) ||
             may_act_by(state.controller_lease, state.controller)) {
    step.is_done = false;
    step.waits_for = fmt::format(
        "the pods of the Deployments {} and {} have ended; `kubectl get -n {} pods -o wide` lists them: if the node of "
        "one is down, start its machine or delete its Node",
        kOldOperator, kOldController, settings.namespace_name);
  } else {
    step.write = WriteToForgetHold(state.operator_lease, settings);
    if (!step.write) step.write = WriteToForgetHold(state.controller_lease, settings);
    step.is_done = !step.write;
  }
  return step;
}

void Append(std::vector<TakeoverStep> more, std::vector<TakeoverStep>& steps) {
  std::move(more.begin(), more.end(), std::back_inserter(steps));
}

}  // namespace

std::vector<TakeoverStep> StepsToTakeOver(const TakeoverState& state, const TakeoverSettings& settings, WallTime now) {
  std::vector<TakeoverStep> steps;
  steps.push_back(StartRecordStep(state, settings));
  steps.push_back(OverridesStep(state, settings));
  steps.push_back(OursStep(state));
  steps.push_back(LeasesStep(state, settings, now));
  // The operator is stopped first, since it would start its controller again.
  steps.push_back(StopStep("operator", state.operators, state));
  steps.push_back(StopStep("controller", state.controller, state));
  if (settings.with_server) {
    steps.push_back(ServerStep(state, settings));
    steps.push_back(ServingStep(state, settings));
  }
  if (settings.with_daemons) Append(StepsToHandNodesToAgents(state), steps);
  return steps;
}

std::vector<TakeoverStep> StepsToUndo(const TakeoverState& state, const TakeoverSettings& settings, WallTime) {
  const std::optional<json::Value> values = ValuesBefore(state, settings);
  if (!values) return {};
  const json::Value& before = *values;
  std::vector<TakeoverStep> steps = {UndoRecordStep(state, settings, before)};
  Append(StepsToHandNodesBack(state, before["daemon"]), steps);
  std::vector<TakeoverStep> back = {ServerBackStep(state, before["server"]),
                                    ScaleBackStep("controller", state.controller, before["controller"]),
                                    ScaleBackStep("operator", state.operators, before["operator"]),
                                    OverridesBackStep(state, settings, before["overrides"])};
  // If the operator's controller had no replica, Pintle's replicas take the leases again when they are back.
  const json::Value& controllers = before["controller"];
  const bool may_pintle_lead = !controllers.is_integer() || controllers.integer() == 0;
  if (!may_pintle_lead || NextOf(back) != nullptr) steps.push_back(LeaveStep(state, settings));
  Append(std::move(back), steps);
  steps.push_back(OperatorLeadsStep(state, settings, before));
  // Pintle's replicas would write the annotations and conditions again if they led after the undo.
  if (!may_pintle_lead) {
    steps.push_back(AnnotationsStep(state));
    steps.push_back(ConditionsStep(state));
  }
  steps.push_back(OperatorServesStep(state));
  steps.push_back(ScaleBackStep("replicas", state.ours, before["ours"]));
  steps.push_back(RecordRemovalStep(state));
  return steps;
}

const TakeoverStep* NextOf(const std::vector<TakeoverStep>& steps) {
  const auto next = std::find_if(steps.begin(), steps.end(), [](const TakeoverStep& step) { return !step.is_done; });
  return next == steps.end() ? nullptr : &*next;
}

bool HasTakenAnything(const TakeoverState& state, const TakeoverSettings& settings) {
  const auto is_taken = [&](const std::optional<api::Lease>& lease) {
    return lease && !lease->spec.holder_identity.empty() && !IsHeldByOthers(lease, settings);
  };
  return state.record && (is_taken(state.operator_lease) || is_taken(state.controller_lease) ||
                          !ScaledDownFrom(state.operators).is_null() || !ScaledDownFrom(state.controller).is_null());
}

bool AreNodesNeeded(const TakeoverState& state, const TakeoverSettings& settings) {
  if (settings.with_daemons || (state.daemon && LeavesNodesToAgents(*state.daemon))) return true;
  // The DaemonSet may have been deleted or replaced since the takeover.  The operator makes it anew after an undo, and
  // then the daemon would run beside each agent that still has its node.
  return IsBeingUndone(state);
}

bool AreAnnotationsNeeded(const TakeoverState& state) { return IsBeingUndone(state); }

}  // namespace pintle::controller
