// SPDX-License-Identifier: Apache-2.0
#include "controller/takeover_steps.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <string_view>
#include <utility>

#include "api/annotations.h"
#include "api/controller_config.h"
#include "api/rollout_policy.h"
#include "api/waiting_files.h"
#include "controller/garbage.h"
#include "controller/kubeconfig_data_pass.h"
#include "controller/pause_condition.h"
#include "controller/replacing_patch.h"
#include "controller/rollout_pass.h"
#include "controller/takeover_daemons.h"
#include "controller/takeover_leases.h"
#include "drain/protocol.h"
#include "json/fields.h"
#include "json/parse.h"

namespace pintle::controller {
namespace {

constexpr const char* kRecordName = "pintle-takeover";
constexpr const char* kBeforeKey = "before.json";  // The entry of the record with the values before the takeover.
// The verb of the run that began last.  If two runs are made at once, the earlier run ends (takeover_progress.h).
constexpr const char* kVerbKey = "verb";
constexpr const char* kStartVerb = "start";
constexpr const char* kUndoVerb = "undo";
constexpr const char* kOldOperator = "machine-config-operator";
constexpr const char* kOldController = "machine-config-controller";
constexpr const char* kOldServer = "machine-config-server";
constexpr const char* kOldOperatorLease = "machine-config";
constexpr const char* kOldControllerLease = "machine-config-controller";
// An annotation of a Deployment that a takeover has scaled down, with the number of replicas before.  A takeover whose
// record is lost is recognized by this annotation.  A Deployment without it was not scaled down by a takeover.
constexpr const char* kReplicasAnnotation = "pintle.io/replicas-before";
// A label that no node has.  With it as the node selector, a DaemonSet has no pods.
constexpr const char* kNoNodeSelector = "pintle.io/taken-over";
// The name of the port in deploy/ignition/openshift.
constexpr const char* kIgnitionPort = "ignition";

std::int64_t NumberAt(const json::Value& value, std::initializer_list<std::string_view> keys, std::int64_t fallback) {
  const json::Value* const number = value.Find(keys);
  return number != nullptr && number->is_integer() ? number->integer() : fallback;
}

// Returns the number of replicas that a Deployment is to have, or null if there is no Deployment.
json::Value Replicas(const std::optional<WholeDeployment>& deployment) {
  // A Deployment without the field has one replica.
  return deployment ? json::Value(NumberAt(deployment->spec, {"replicas"}, 1)) : json::Value();
}

// Returns whether a Deployment is to have no replicas and has none, or does not exist.
bool IsStopped(const std::optional<WholeDeployment>& deployment) {
  return !deployment || (Replicas(deployment) == json::Value(0) && NumberAt(deployment->status, {"replicas"}, 0) == 0);
}

// Returns the text TakeoverStep::waits_for of a step that ends the pods of a Deployment or of a DaemonSet.
std::string EndOfPodsText(std::string_view kind, const std::string& name, const TakeoverState& state) {
  const auto pods = state.remaining_pods.find(name);
  return fmt::format("the pods of the {} {} have ended{}", kind, name,
                     pods == state.remaining_pods.end() ? "" : ": " + pods->second);
}

// Returns the number of replicas before a takeover scaled the Deployment down, or null if no takeover has done that.
json::Value ScaledDownFrom(const std::optional<WholeDeployment>& deployment) {
  if (!deployment) return {};
  const auto replicas = json::Parse(deployment->metadata.Annotation(kReplicasAnnotation));
  return replicas && replicas->is_integer() ? *replicas : json::Value();
}

TakeoverWrite ScaleWrite(const WholeDeployment& deployment, const json::Value& replicas, json::Value patch) {
  return {
      .object = TakeoverObject::kDeployment,
      .namespace_name = deployment.metadata.namespace_name,
      .name = deployment.metadata.name,
      .patch = std::move(patch),
      .in_words = fmt::format("Deployment {}/{}: spec.replicas from {} to {}", deployment.metadata.namespace_name,
                              deployment.metadata.name, json::ToText(Replicas(deployment)), json::ToText(replicas))};
}

TakeoverWrite ScaleOf(const WholeDeployment& deployment, const json::Value& replicas) {
  ReplacingPatch patch(deployment.metadata);
  patch.Set("/spec/replicas", replicas);
  return ScaleWrite(deployment, replicas, std::move(patch).operations());
}

TakeoverWrite ScaleDownWrite(const WholeDeployment& deployment) {
  ReplacingPatch patch(deployment.metadata);
  patch.Set("/spec/replicas", 0);
  // If somebody has started replicas since the takeover, undo goes back to the number that was recorded first.
  if (ScaledDownFrom(deployment).is_null()) {
    patch.SetAnnotations({{kReplicasAnnotation, json::ToText(Replicas(deployment))}});
  }
  return ScaleWrite(deployment, 0, std::move(patch).operations());
}

TakeoverWrite ScaleBackWrite(const WholeDeployment& deployment, const json::Value& replicas) {
  ReplacingPatch patch(deployment.metadata);
  patch.Set("/spec/replicas", replicas);
  if (!deployment.metadata.Annotation(kReplicasAnnotation).empty()) patch.RemoveAnnotations({kReplicasAnnotation});
  return ScaleWrite(deployment, replicas, std::move(patch).operations());
}

// Returns whether an entry of spec.overrides is about the operator's Deployment.  The cluster's version operator
// compares all of these fields, also the group.
bool NamesOperator(const json::Value& entry, const TakeoverSettings& settings) {
  return entry.TextAt({"group"}) == "apps" && entry.TextAt({"kind"}) == "Deployment" &&
         entry.TextAt({"namespace"}) == settings.namespace_name && entry.TextAt({"name"}) == kOldOperator;
}

// Returns whether an entry of spec.overrides leaves the operator's Deployment unmanaged, as the entry of a takeover
// does.
bool IsOverride(const json::Value& entry, const TakeoverSettings& settings) {
  return NamesOperator(entry, settings) && entry["unmanaged"] == json::Value(true);
}

// Returns the node selector of a DaemonSet, or null if it has none.
const json::Value& SelectorOf(const WholeDaemonSet& server) {
  static const json::Value kNone;
  const json::Value* const selector = server.spec.Find({"template", "spec", "nodeSelector"});
  return selector == nullptr ? kNone : *selector;
}

// If `selector` is null, the DaemonSet gets none.
TakeoverWrite SelectorWrite(const WholeDaemonSet& server, const json::Value& selector) {
  constexpr const char* kPath = "/spec/template/spec/nodeSelector";
  ReplacingPatch patch(server.metadata);
  selector.is_null() ? patch.Remove(kPath) : patch.Set(kPath, selector);
  return {.object = TakeoverObject::kDaemonSet,
          .namespace_name = server.metadata.namespace_name,
          .name = server.metadata.name,
          .patch = std::move(patch).operations(),
          .in_words = fmt::format("DaemonSet {}/{}: spec.template.spec.nodeSelector becomes {}",
                                  server.metadata.namespace_name, server.metadata.name, json::ToText(selector))};
}

// ---- the record ----

// Returns the values for a record of the present state.
json::Value BeforeOf(const TakeoverState& state) {
  json::Value before = json::Value::object();
  if (state.cluster_version) before["overrides"] = std::as_const(state.cluster_version->spec)["overrides"];
  before["operator"] = Replicas(state.operators);
  before["controller"] = Replicas(state.controller);
  before["ours"] = Replicas(state.ours);
  if (state.server) before["server"] = SelectorOf(*state.server);
  if (state.daemon) before["daemon"] = RecordOfDaemon(*state.daemon);
  return before;
}

// Returns the values in the record, or null if there is no record that can be read.
json::Value RecordedIn(const TakeoverState& state) {
  if (!state.record) return {};
  const auto text = state.record->data.find(kBeforeKey);
  if (text == state.record->data.end()) return {};
  auto before = json::Parse(text->second);
  return before && before->is_object() ? *std::move(before) : json::Value();
}

// Returns the verb in a record.  A record without a verb counts as one of `start`.
std::string VerbIn(const api::ConfigMap& record) {
  const auto found = record.data.find(kVerbKey);
  return found == record.data.end() ? kStartVerb : found->second;
}

// Returns the step that writes the verb into a record which can be read.
TakeoverStep VerbStep(const api::ConfigMap& record, const std::string& verb) {
  TakeoverStep step{.name = "record", .is_done = VerbIn(record) == verb};
  if (step.is_done) return step;
  ReplacingPatch patch(record.metadata);
  patch.Set(fmt::format("/data/{}", kVerbKey), verb);
  step.write = TakeoverWrite{.object = TakeoverObject::kRecord,
                             .namespace_name = record.metadata.namespace_name,
                             .name = record.metadata.name,
                             .patch = std::move(patch).operations(),
                             .in_words = fmt::format("ConfigMap {}/{}: its verb becomes {}",
                                                     record.metadata.namespace_name, record.metadata.name, verb)};
  return step;
}

bool HasOverride(const TakeoverState& state, const TakeoverSettings& settings) {
  if (!state.cluster_version) return false;
  const json::Value& overrides = std::as_const(state.cluster_version->spec)["overrides"];
  return std::any_of(overrides.begin(), overrides.end(),
                     [&](const json::Value& entry) { return IsOverride(entry, settings); });
}

// Returns the traces that only a takeover leaves in a cluster.  An override is no such trace, since others may have
// made it.
std::vector<std::string> TracesOf(const TakeoverState& state, const TakeoverSettings& settings) {
  std::vector<std::string> traces;
  if (state.server && SelectorOf(*state.server).contains(kNoNodeSelector)) {
    traces.push_back(fmt::format("the node selector of the DaemonSet {}", kOldServer));
  }
  if (state.daemon && LeavesNodesToAgents(*state.daemon)) {
    traces.push_back(fmt::format("the affinity of the DaemonSet {}", state.daemon->metadata.name));
  }
  for (const auto* lease : {&state.operator_lease, &state.controller_lease}) {
    if (!*lease) continue;
    const api::Lease& found = **lease;
    if (HasTraceOfHold(found, settings)) {
      traces.push_back(fmt::format("the hold on the Lease {}", found.metadata.name));
    }
  }
  for (const auto* deployment : {&state.operators, &state.controller}) {
    if (ScaledDownFrom(*deployment).is_null()) continue;
    traces.push_back(fmt::format("the scale of the Deployment {}", (*deployment)->metadata.name));
  }
  return traces;
}

// Returns what is wrong with the record, and what is left from a takeover; "" if nothing is wrong.
std::string LossOfRecord(const TakeoverState& state, const TakeoverSettings& settings) {
  if (!RecordedIn(state).is_null()) return "";
  std::string traces;
  for (const std::string& trace : TracesOf(state, settings)) traces += (traces.empty() ? "" : ", ") + trace;
  const std::string left = traces.empty() ? "" : fmt::format(", and a takeover has left {}", traces);
  if (state.record) return fmt::format("its entry {} cannot be read{}", kBeforeKey, left);
  return traces.empty() ? "" : "it is missing" + left;
}

// Returns the recorded number of Pintle's replicas.  deploy/base has two.
json::Value OurReplicasIn(const json::Value& before) {
  const std::int64_t recorded = NumberAt(before, {"ours"}, 0);
  return recorded > 0 ? recorded : 2;
}

// Returns the values for a record that was lost.  A value that the takeover has changed is replaced: the number of
// replicas by the number in kReplicasAnnotation, and any other value by what OpenShift installs.
json::Value InstalledBefore(const TakeoverState& state, const TakeoverSettings& settings) {
  json::Value before = BeforeOf(state);
  for (const auto& [name, deployment] :
       {std::pair("operator", &state.operators), std::pair("controller", &state.controller)}) {
    if (json::Value replicas = ScaledDownFrom(*deployment); !replicas.is_null()) before[name] = std::move(replicas);
  }
  if (before["ours"] == json::Value(0)) before["ours"] = OurReplicasIn(before);
  json::Value overrides;
  for (const json::Value& entry : std::as_const(before)["overrides"]) {
    if (!IsOverride(entry, settings)) overrides.push_back(entry);
  }
  before["overrides"] = std::move(overrides);
  if (state.server) {
    json::Value selector = SelectorOf(*state.server);
    if (selector.is_object()) selector.Erase(kNoNodeSelector);
    before["server"] = selector.empty() ? json::Value() : std::move(selector);
  }
  if (state.daemon) before["daemon"] = InstalledRecordOfDaemon(*state.daemon);
  return before;
}

TakeoverStep RecordStep(const TakeoverState& state, const TakeoverSettings& settings) {
  if (!RecordedIn(state).is_null()) return VerbStep(*state.record, kStartVerb);
  // A new record would contain the values that the takeover has set, and undo could not restore the values before it.
  if (const std::string loss = LossOfRecord(state, settings); !loss.empty()) {
    return {
        .name = "record",
        .waits_for = fmt::format("the record can be read: the ConfigMap {}/{}", settings.own_namespace, kRecordName)};
  }
  json::Value map;
  map["apiVersion"] = "v1";
  map["kind"] = "ConfigMap";
  map["metadata"] = {{"name", kRecordName}, {"namespace", settings.own_namespace}};
  map["data"][kBeforeKey] = json::ToText(BeforeOf(state));
  map["data"][kVerbKey] = kStartVerb;
  return {.name = "record",
          .write = TakeoverWrite{.object = TakeoverObject::kRecord,
                                 .namespace_name = settings.own_namespace,
                                 .name = kRecordName,
                                 .patch = std::move(map),
                                 .is_creation = true,
                                 .in_words = fmt::format("ConfigMap {}/{}: is created with the present values",
                                                         settings.own_namespace, kRecordName)}};
}

// Writes a record in place of one that was lost.
TakeoverStep LostRecordStep(const TakeoverState& state, const TakeoverSettings& settings, const json::Value& before) {
  TakeoverWrite write{.object = TakeoverObject::kRecord,
                      .namespace_name = settings.own_namespace,
                      .name = kRecordName,
                      .in_words = fmt::format("ConfigMap {}/{}: gets the values that OpenShift installs, because {}",
                                              settings.own_namespace, kRecordName, LossOfRecord(state, settings))};
  json::Value entries;
  entries[kBeforeKey] = json::ToText(before);
  entries[kVerbKey] = kUndoVerb;
  if (state.record) {
    ReplacingPatch patch(state.record->metadata);
    patch.Set("/data", std::move(entries));
    write.patch = std::move(patch).operations();
  } else {
    write.patch["apiVersion"] = "v1";
    write.patch["kind"] = "ConfigMap";
    write.patch["metadata"] = {{"name", kRecordName}, {"namespace", settings.own_namespace}};
    write.patch["data"] = std::move(entries);
    write.is_creation = true;
  }
  return {.name = "record", .write = std::move(write)};
}

// ---- taking over ----

// If `overrides` is null, the ClusterVersion gets none.
TakeoverWrite OverridesWrite(const WholeClusterVersion& version, const json::Value& overrides) {
  constexpr const char* kPath = "/spec/overrides";
  ReplacingPatch patch(version.metadata);
  overrides.is_null() ? patch.Remove(kPath) : patch.Set(kPath, overrides);
  return {.object = TakeoverObject::kClusterVersion,
          .name = version.metadata.name,
          .patch = std::move(patch).operations(),
          .in_words = fmt::format("ClusterVersion {}: spec.overrides becomes {}", version.metadata.name,
                                  json::ToText(overrides))};
}

TakeoverStep OverridesStep(const TakeoverState& state, const TakeoverSettings& settings) {
  TakeoverStep step{.name = "overrides", .is_done = true};
  if (!state.cluster_version || HasOverride(state, settings)) return step;
  const json::Value ours = {{"kind", "Deployment"},
                            {"group", "apps"},
                            {"namespace", settings.namespace_name},
                            {"name", kOldOperator},
                            {"unmanaged", true}};
  // If there are several entries for one object, only the first entry counts.  So an entry that keeps the Deployment
  // managed is replaced.
  json::Value overrides;
  bool is_placed = false;
  for (const json::Value& entry : std::as_const(state.cluster_version->spec)["overrides"]) {
    const bool is_replaced = NamesOperator(entry, settings);
    if (!is_replaced || !is_placed) overrides.push_back(is_replaced ? ours : entry);
    is_placed = is_placed || is_replaced;
  }
  if (!is_placed) overrides.push_back(ours);
  step.is_done = false;
  step.write = OverridesWrite(*state.cluster_version, overrides);
  return step;
}

// Starts Pintle's replicas: an undo that was cut short may have stopped them.
TakeoverStep OursStep(const TakeoverState& state) {
  TakeoverStep step{.name = "replicas", .is_done = Replicas(state.ours) != json::Value(0)};
  if (step.is_done) return step;
  step.write = ScaleOf(*state.ours, OurReplicasIn(RecordedIn(state)));
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
  const bool is_ready = state.ours && NumberAt(state.ours->status, {"readyReplicas"}, 0) > 0;
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

// Scales down a Deployment of the operator, and waits until its pods have ended.
TakeoverStep StopStep(const char* name, const std::optional<WholeDeployment>& deployment, const TakeoverState& state) {
  TakeoverStep step{.name = name, .is_done = IsStopped(deployment)};
  if (deployment && state.remaining_pods.contains(deployment->metadata.name)) step.is_done = false;
  if (step.is_done) return step;
  step.waits_for = EndOfPodsText("Deployment", deployment->metadata.name, state);
  if (Replicas(deployment) != json::Value(0)) step.write = ScaleDownWrite(*deployment);
  return step;
}

TakeoverStep ServerStep(const TakeoverState& state, const TakeoverSettings& settings) {
  TakeoverStep step{.name = "server", .is_done = HasServerEnded(state)};
  if (step.is_done) return step;
  json::Value selector = SelectorOf(*state.server);
  if (selector.contains(kNoNodeSelector)) {
    step.waits_for = EndOfPodsText("DaemonSet", kOldServer, state);
    return step;
  }
  // Pintle's server must be ready to begin as soon as the old one has ended.
  if (const std::string why = WhyServerMustStay(state, settings); !why.empty()) {
    step.waits_for = fmt::format("this is corrected: {}", why);
    return step;
  }
  step.waits_for = EndOfPodsText("DaemonSet", kOldServer, state);
  selector[kNoNodeSelector] = "true";
  step.write = SelectorWrite(*state.server, selector);
  return step;
}

// Waits until Pintle's Ignition server answers in each pod.
TakeoverStep ServingStep(const TakeoverState& state, const TakeoverSettings& settings) {
  TakeoverStep step{.name = "serving", .is_done = !state.server || !state.ours};
  if (step.is_done) return step;
  std::string silent;
  for (const ServerReplica& replica : state.server_replicas) {
    if (!replica.answers) silent += (silent.empty() ? "" : ", ") + replica.pod;
  }
  step.is_done = !state.server_replicas.empty() && silent.empty();
  if (!step.is_done) {
    step.waits_for = fmt::format(
        "the Ignition server answers, and has the configs of all pools, in the pods {0} of the Deployment {1}/{2}; "
        "`kubectl describe -n {1} deployment {2}` and `kubectl logs -n {1} deployment/{2}` list the reason",
        silent.empty() ? "(there are none yet)" : silent, settings.own_namespace, settings.own_deployment);
  }
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
      "the replicas of Pintle have ended, and have released the leases or not renewed them for the time in them; "
      "`kubectl get -n {} pods -o wide` lists the pods that are left: if the node of one is down, start its machine or "
      "delete its Node",
      settings.own_namespace);
  if (state.ours && Replicas(state.ours) != json::Value(0)) step.write = ScaleOf(*state.ours, 0);
  return step;
}

TakeoverStep ScaleBackStep(const char* name, const std::optional<WholeDeployment>& deployment,
                           const json::Value& before) {
  const json::Value scaled_down_from = ScaledDownFrom(deployment);
  // A Deployment that did not exist at the first start is not in the record.
  const json::Value& wanted = before.is_null() ? scaled_down_from : before;
  const bool is_back = Replicas(deployment) == wanted && scaled_down_from.is_null();
  TakeoverStep step{.name = name, .is_done = !deployment || wanted.is_null() || is_back};
  if (!step.is_done) step.write = ScaleBackWrite(*deployment, wanted);
  return step;
}

TakeoverStep ServerBackStep(const TakeoverState& state, const json::Value& before) {
  TakeoverStep step{.name = "server",
                    .is_done = !state.server || SelectorOf(*state.server) == before ||
                               !SelectorOf(*state.server).contains(kNoNodeSelector)};
  if (!step.is_done) step.write = SelectorWrite(*state.server, before);
  return step;
}

TakeoverStep OverridesBackStep(const TakeoverState& state, const TakeoverSettings& settings,
                               const json::Value& before) {
  TakeoverStep step{.name = "overrides", .is_done = true};
  if (!state.cluster_version) return step;
  // Overrides that others have added meanwhile stay, and those that others have removed stay removed.
  const json::Value& present = std::as_const(state.cluster_version->spec)["overrides"];
  json::Value wanted = json::Value::array();
  bool was_replaced = false;
  for (const json::Value& entry : present) {
    if (!IsOverride(entry, settings)) {
      wanted.push_back(entry);
      continue;
    }
    const json::Value* const former = std::find_if(
        before.begin(), before.end(), [&](const json::Value& recorded) { return NamesOperator(recorded, settings); });
    if (former != before.end()) wanted.push_back(*former);
    was_replaced = was_replaced || former == before.end() || *former != entry;
  }
  if (!was_replaced) return step;
  step.is_done = false;
  step.write = OverridesWrite(*state.cluster_version, wanted.empty() && before.is_null() ? json::Value() : wanted);
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

// The annotations that Pintle's controller adds to objects, and the Machine Config Operator does not know.
constexpr auto kOwnAnnotations = std::to_array<std::string_view>(
    {kKeptUntilAnnotation, api::kTargetSinceAnnotation, api::kOsImageStreamAnnotation, kCopiedAtAnnotation,
     api::kFilesWaitAnnotation, api::kStageAnnotation, drain::kStartedAnnotation, drain::kKeepCordonedAnnotation});
// The conditions that Pintle's controller adds to the statuses of pools, and the Machine Config Operator does not know.
constexpr auto kOwnConditions = std::to_array<std::string_view>({kPausedPending, kMisconfigured});

std::string KindAndName(TakeoverObject object, const api::ObjectMeta& metadata) {
  const char* kind = "ControllerConfig";
  if (object == TakeoverObject::kPool) kind = "MachineConfigPool";
  if (object == TakeoverObject::kNode) kind = "Node";
  if (object == TakeoverObject::kKubeconfigData) kind = "ConfigMap";
  const std::string in = metadata.namespace_name.empty() ? "" : metadata.namespace_name + "/";
  return fmt::format("{} {}{}", kind, in, metadata.name);
}

// Returns the write that removes the annotations of Pintle's controller from the object, or nullopt if it has none.
std::optional<TakeoverWrite> WithoutOwnAnnotations(TakeoverObject object, const api::ObjectMeta& metadata) {
  std::vector<std::string_view> left;
  for (const std::string_view key : kOwnAnnotations) {
    if (api::Find(metadata.annotations, key) != nullptr) left.push_back(key);
  }
  if (left.empty()) return std::nullopt;
  ReplacingPatch patch(metadata);
  patch.RemoveAnnotations(left);
  return TakeoverWrite{.object = object,
                       .namespace_name = metadata.namespace_name,
                       .name = metadata.name,
                       .patch = std::move(patch).operations(),
                       .in_words = fmt::format("{}: without the annotations {}", KindAndName(object, metadata),
                                               fmt::join(left, " and "))};
}

// Removes the annotations of Pintle's controller.  It must not lead any more, because it would set them again.
TakeoverStep AnnotationsStep(const TakeoverState& state) {
  TakeoverStep step{.name = "annotations"};
  for (const AnnotatedObject& annotated : state.annotated) {
    if (!step.write) step.write = WithoutOwnAnnotations(annotated.object, annotated.metadata);
  }
  for (const api::Node& node : state.nodes) {
    if (!step.write) step.write = WithoutOwnAnnotations(TakeoverObject::kNode, node.metadata);
  }
  step.is_done = !step.write;
  return step;
}

// Removes the conditions of Pintle's controller from the statuses of pools.
TakeoverStep ConditionsStep(const TakeoverState& state) {
  TakeoverStep step{.name = "conditions", .is_done = true};
  for (const AnnotatedObject& pool : state.annotated) {
    std::vector<std::string> left;
    ReplacingPatch patch(pool.metadata);
    // Each removal changes the indices of the conditions behind it, so the last one is removed first.
    for (std::size_t i = pool.conditions.size(); i-- > 0;) {
      const auto own = std::find(kOwnConditions.begin(), kOwnConditions.end(), pool.conditions[i]);
      if (own == kOwnConditions.end()) continue;
      left.push_back(pool.conditions[i]);
      patch.Remove(fmt::format("/status/conditions/{}", i));
    }
    if (left.empty()) continue;
    step.is_done = false;
    step.write =
        TakeoverWrite{.object = pool.object,
                      .name = pool.metadata.name,
                      .patch = std::move(patch).operations(),
                      .part = kube::Part::kStatus,
                      .in_words = fmt::format("{}: its status without the conditions {}",
                                              KindAndName(pool.object, pool.metadata), fmt::join(left, " and "))};
    return step;
  }
  return step;
}

// Returns sentences about the nodes without a ready pod of the operator's server, with a remedy for each node.
std::string UnreadyServersText(const TakeoverState& state) {
  std::string text;
  for (const auto& [name, pod] : state.unready_servers) {
    const auto node = std::find_if(state.nodes.begin(), state.nodes.end(),
                                   [&name = name](const api::Node& known) { return known.metadata.name == name; });
    text += fmt::format(". The pod {} on the node {} is not ready", pod, name);
    if (node != state.nodes.end() && IsDown(*node)) {
      text += ", because the node is not Ready: start its machine, or delete its Node if the machine is gone";
    } else {
      text +=
          fmt::format(": `kubectl describe -n {} pod {}` lists the reason", state.server->metadata.namespace_name, pod);
    }
  }
  return text;
}

// Waits for the operator's server on all machines: on a machine without it, Pintle's replicas would take its ports.
TakeoverStep OperatorServesStep(const TakeoverState& state) {
  TakeoverStep step{.name = "serving", .is_done = !AreServersAwaited(state)};
  if (step.is_done) return step;
  const auto count = [&](std::string_view field) { return NumberAt(state.server->status, {field}, 0); };
  step.waits_for = fmt::format("all pods of the DaemonSet {} are ready ({} of {} are){}", kOldServer,
                               count("numberReady"), count("desiredNumberScheduled"), UnreadyServersText(state));
  return step;
}

TakeoverStep RecordRemovalStep(const TakeoverState& state) {
  TakeoverStep step{.name = "record", .is_done = !state.record};
  if (step.is_done) return step;
  step.write =
      TakeoverWrite{.object = TakeoverObject::kRecord,
                    .namespace_name = state.record->metadata.namespace_name,
                    .name = state.record->metadata.name,
                    .patch = {},
                    .version = state.record->metadata.resource_version,
                    .in_words = fmt::format("ConfigMap {}/{}: is removed", state.record->metadata.namespace_name,
                                            state.record->metadata.name)};
  return step;
}

void Append(std::vector<TakeoverStep> more, std::vector<TakeoverStep>& steps) {
  std::move(more.begin(), more.end(), std::back_inserter(steps));
}

}  // namespace

std::vector<TakeoverStep> StepsToTakeOver(const TakeoverState& state, const TakeoverSettings& settings, WallTime now) {
  std::vector<TakeoverStep> steps;
  steps.push_back(RecordStep(state, settings));
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
  json::Value before = RecordedIn(state);
  std::vector<TakeoverStep> steps;
  if (before.is_null()) {
    if (LossOfRecord(state, settings).empty()) return steps;
    before = InstalledBefore(state, settings);
    steps.push_back(LostRecordStep(state, settings, before));
  } else {
    steps.push_back(VerbStep(*state.record, kUndoVerb));
  }
  Append(StepsToHandNodesBack(state, before["daemon"]), steps);
  std::vector<TakeoverStep> back = {ServerBackStep(state, before["server"]),
                                    ScaleBackStep("controller", state.controller, before["controller"]),
                                    ScaleBackStep("operator", state.operators, before["operator"]),
                                    OverridesBackStep(state, settings, before["overrides"])};
  // If the operator's controller had no replica, Pintle's replicas take the leases again when they are back.
  const json::Value& controllers = std::as_const(before)["controller"];
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

std::string WhyTakeoverMustNotBegin(const TakeoverState& state, const TakeoverSettings& settings) {
  const std::string loss = LossOfRecord(state, settings);
  if (loss.empty()) return "";
  return fmt::format(
      "ConfigMap {}/{}, the record of a takeover: {}; run `pintle-controller takeover undo`, which restores what "
      "OpenShift installs",
      settings.own_namespace, kRecordName, loss);
}

bool HasTakenAnything(const TakeoverState& state, const TakeoverSettings& settings) {
  const auto is_taken = [&](const std::optional<api::Lease>& lease) {
    return lease && !lease->spec.holder_identity.empty() && !IsHeldByOthers(lease, settings);
  };
  return state.record && (is_taken(state.operator_lease) || is_taken(state.controller_lease) ||
                          !ScaledDownFrom(state.operators).is_null() || !ScaledDownFrom(state.controller).is_null());
}

std::string NoticeOfOverride(const TakeoverState& state, const TakeoverSettings& settings) {
  if (state.record || !HasOverride(state, settings)) return "";
  return fmt::format(
      "The ClusterVersion {} has an override for the Deployment {}/{}, which was there before a takeover or has no "
      "record; remove it from spec.overrides if nobody needs it.",
      state.cluster_version->metadata.name, settings.namespace_name, kOldOperator);
}

bool IsToHaveNoPods(const WholeObject& owner) {
  const json::Value* const selector = owner.spec.Find({"template", "spec", "nodeSelector"});
  const bool is_nowhere = selector != nullptr && selector->contains(kNoNodeSelector);
  return is_nowhere || NumberAt(owner.spec, {"replicas"}, 1) == 0;
}

bool AreNodesNeeded(const TakeoverState& state, const TakeoverSettings& settings) {
  if (settings.with_daemons || (state.daemon && LeavesNodesToAgents(*state.daemon))) return true;
  // The DaemonSet may have been deleted or replaced since the takeover.  The operator makes it anew after an undo, and
  // then the daemon would run beside each agent that still has its node.
  return state.record && VerbIn(*state.record) == kUndoVerb;
}

bool AreAnnotationsNeeded(const TakeoverState& state) { return state.record && VerbIn(*state.record) == kUndoVerb; }

bool AreServersAwaited(const TakeoverState& state) {
  const bool may_collide = state.server && state.ours && IgnitionPortOf(*state.ours);
  if (!may_collide || Replicas(state.ours) != json::Value(0)) return false;
  const auto count = [&](std::string_view field) { return NumberAt(state.server->status, {field}, 0); };
  return count("observedGeneration") < state.server->metadata.generation ||
         count("numberReady") < count("desiredNumberScheduled");
}

bool HasServerEnded(const TakeoverState& state) {
  if (!state.server) return true;
  const auto count = [&](std::string_view field) { return NumberAt(state.server->status, {field}, 0); };
  // A pod that is ending on a machine where it should not run counts as misscheduled.
  return SelectorOf(*state.server).contains(kNoNodeSelector) &&
         count("observedGeneration") >= state.server->metadata.generation && count("currentNumberScheduled") == 0 &&
         count("numberMisscheduled") == 0 && !state.remaining_pods.contains(kOldServer);
}

std::optional<std::int64_t> IgnitionPortOf(const WholeDeployment& deployment) {
  const json::Value* const containers = deployment.spec.Find({"template", "spec", "containers"});
  if (containers == nullptr) return std::nullopt;
  for (const json::Value& container : *containers) {
    for (const json::Value& port : container["ports"]) {
      const std::int64_t number = NumberAt(port, {"containerPort"}, 0);
      if (port.TextAt({"name"}) == kIgnitionPort && number > 0) return number;
    }
  }
  return std::nullopt;
}

std::string WhyServerMustStay(const TakeoverState& state, const TakeoverSettings& settings) {
  if (!state.server) return "";
  const std::string ours = fmt::format("the Deployment {}/{}", settings.own_namespace, settings.own_deployment);
  if (!state.ours || !IgnitionPortOf(*state.ours)) {
    return fmt::format("{} has no Ignition server; apply deploy/ignition/openshift", ours);
  }
  const std::int64_t wanted = NumberAt(state.ours->spec, {"replicas"}, 1);
  const auto count = [&](std::string_view field) { return NumberAt(state.ours->status, {field}, 0); };
  const bool are_new = count("observedGeneration") >= state.ours->metadata.generation;
  if (are_new && count("updatedReplicas") >= wanted && count("readyReplicas") >= wanted) return "";
  return fmt::format("not all replicas of {} are ready with its present settings", ours);
}

const TakeoverStep* NextOf(const std::vector<TakeoverStep>& steps) {
  const auto next = std::find_if(steps.begin(), steps.end(), [](const TakeoverStep& step) { return !step.is_done; });
  return next == steps.end() ? nullptr : &*next;
}

}  // namespace pintle::controller
