// SPDX-License-Identifier: Apache-2.0
#include "controller/takeover_steps.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "controller/replacing_patch.h"
#include "json/field_list.h"
#include "json/parse.h"

namespace pintle::controller {
namespace {

constexpr const char* kRecordName = "pintle-takeover";
constexpr const char* kBeforeKey = "before.json";
constexpr const char* kOldOperator = "machine-config-operator";
constexpr const char* kOldController = "machine-config-controller";
constexpr const char* kOldServer = "machine-config-server";
constexpr const char* kOperatorLeaseHeld = "machine-config";
constexpr const char* kControllerLeaseHeld = "machine-config-controller";
constexpr const char* kHolder = "pintle-takeover";
constexpr const char* kHeldUntilAnnotation = "pintle.io/held-until";
constexpr const char* kNowhereSelector = "pintle.io/taken-over";
constexpr auto kLongestLastHold = std::chrono::seconds(15);
constexpr auto kShortestLastHold = std::chrono::seconds(2);

std::int64_t NumberAt(const json::Value& value, std::initializer_list<std::string_view> keys, std::int64_t fallback) {
  const json::Value* const number = value.Find(keys);
  return number != nullptr && number->is_integer() ? number->integer() : fallback;
}

json::Value Replicas(const std::optional<WholeDeployment>& deployment) {
  // A Deployment without the field has one replica.
  return deployment ? json::Value(NumberAt(deployment->spec, {"replicas"}, 1)) : json::Value();
}

bool IsStopped(const std::optional<WholeDeployment>& deployment) {
  return !deployment || (Replicas(deployment) == json::Value(0) && NumberAt(deployment->status, {"replicas"}, 0) == 0);
}

TakeoverWrite ScaleOf(const WholeDeployment& deployment, const json::Value& replicas) {
  ReplacingPatch patch(deployment.metadata);
  patch.Set("/spec/replicas", replicas);
  return {
      .object = TakeoverObject::kDeployment,
      .namespace_name = deployment.metadata.namespace_name,
      .name = deployment.metadata.name,
      .patch = std::move(patch).operations(),
      .in_words = fmt::format("Deployment {}/{}: spec.replicas from {} to {}", deployment.metadata.namespace_name,
                              deployment.metadata.name, json::ToText(Replicas(deployment)), json::ToText(replicas))};
}

// Returns the list without what is ours, or null if there is none.
bool IsOverride(const json::Value& entry, const TakeoverSettings& settings) {
  return entry.TextAt({"kind"}) == "Deployment" && entry.TextAt({"namespace"}) == settings.namespace_name &&
         entry.TextAt({"name"}) == kOldOperator && entry["unmanaged"] == json::Value(true);
}

const json::Value& SelectorOf(const WholeDaemonSet& server) {
  static const json::Value kNone;
  const json::Value* const selector = server.spec.Find({"template", "spec", "nodeSelector"});
  return selector == nullptr ? kNone : *selector;
}

TakeoverWrite SelectorWrite(const WholeDaemonSet& server, const json::Value& selector) {
  ReplacingPatch patch(server.metadata);
  patch.Set("/spec/template/spec/nodeSelector", selector);
  return {.object = TakeoverObject::kDaemonSet,
          .namespace_name = server.metadata.namespace_name,
          .name = server.metadata.name,
          .patch = std::move(patch).operations(),
          .in_words = fmt::format("DaemonSet {}/{}: spec.template.spec.nodeSelector becomes {}",
                                  server.metadata.namespace_name, server.metadata.name, json::ToText(selector))};
}

// ---- leases ----

bool IsOurs(const std::optional<api::Lease>& lease, const TakeoverSettings& settings) {
  return lease && lease->spec.holder_identity.starts_with(settings.own_identity);
}

// Returns whether another program holds the lease, or did so last.
bool IsOfOthers(const std::optional<api::Lease>& lease, const TakeoverSettings& settings) {
  return lease && !lease->spec.holder_identity.empty() && lease->spec.holder_identity != kHolder &&
         !IsOurs(lease, settings);
}

TakeoverWrite HoldOf(const api::Lease& lease, WallTime until, std::chrono::seconds duration, WallTime now) {
  api::LeaseSpec spec = lease.spec;
  spec.holder_identity = kHolder;
  spec.lease_duration_seconds = static_cast<std::int32_t>(duration.count());
  if (lease.spec.holder_identity != kHolder) spec.acquire_time = api::MicroTime{now};
  spec.renew_time = api::MicroTime{now};
  ReplacingPatch patch(lease.metadata);
  patch.Set("/spec", json::Encode(spec));
  patch.SetAnnotations({{kHeldUntilAnnotation, ToRfc3339(until)}});
  return {.object = TakeoverObject::kLease,
          .namespace_name = lease.metadata.namespace_name,
          .name = lease.metadata.name,
          .patch = std::move(patch).operations(),
          .in_words = fmt::format("Lease {}/{}: is held until {}, when its holder has given up",
                                  lease.metadata.namespace_name, lease.metadata.name, ToRfc3339(until))};
}

// Returns the write that keeps a lease from others until its holder has given up, if one is due.
std::optional<TakeoverWrite> Hold(const std::optional<api::Lease>& lease, const TakeoverSettings& settings,
                                  WallTime now) {
  if (!lease || lease->spec.holder_identity.empty() || IsOurs(lease, settings)) return std::nullopt;
  const std::chrono::seconds written(lease->spec.lease_duration_seconds);
  if (lease->spec.holder_identity != kHolder) {
    const auto promised = written.count() > 0 ? written : settings.hold;
    return HoldOf(*lease, std::chrono::ceil<std::chrono::seconds>(now) + promised, promised, now);
  }
  const auto until = FromRfc3339(lease->metadata.Annotation(kHeldUntilAnnotation));
  const bool is_last = until && lease->spec.renew_time && lease->spec.renew_time->at >= *until;
  if (!until || is_last || now < *until) return std::nullopt;
  return HoldOf(*lease, *until, std::clamp<std::chrono::seconds>(written / 4, kShortestLastHold, kLongestLastHold),
                now);
}

std::optional<TakeoverWrite> ForgetHold(const std::optional<api::Lease>& lease) {
  if (!lease || lease->metadata.Annotation(kHeldUntilAnnotation).empty()) return std::nullopt;
  json::Value patch = json::Value::array();
  patch.push_back(
      {{"op", "replace"}, {"path", "/metadata/resourceVersion"}, {"value", lease->metadata.resource_version}});
  // An object without annotations is not the same as one with an empty list of them.
  const bool is_only = lease->metadata.annotations.size() == 1;
  patch.push_back(
      {{"op", "remove"}, {"path", is_only ? "/metadata/annotations" : "/metadata/annotations/pintle.io~1held-until"}});
  return TakeoverWrite{.object = TakeoverObject::kLease,
                       .namespace_name = lease->metadata.namespace_name,
                       .name = lease->metadata.name,
                       .patch = std::move(patch),
                       .in_words = fmt::format("Lease {}/{}: loses the annotation {}", lease->metadata.namespace_name,
                                               lease->metadata.name, kHeldUntilAnnotation)};
}

// ---- the record ----

json::Value BeforeOf(const TakeoverState& state) {
  json::Value before = json::Value::object();
  if (state.cluster_version) before["overrides"] = std::as_const(state.cluster_version->spec)["overrides"];
  before["operator"] = Replicas(state.operators);
  before["controller"] = Replicas(state.controller);
  before["ours"] = Replicas(state.ours);
  if (state.server) before["server"] = SelectorOf(*state.server);
  return before;
}

// Returns null if there is no record.
json::Value RecordedIn(const TakeoverState& state) {
  if (!state.record) return {};
  const auto text = state.record->data.find(kBeforeKey);
  if (text == state.record->data.end()) return {};
  auto before = json::Parse(text->second);
  return before ? *std::move(before) : json::Value();
}

TakeoverStep RecordStep(const TakeoverState& state, const TakeoverSettings& settings) {
  if (!RecordedIn(state).is_null()) return {.name = "record", .is_done = true};
  json::Value map;
  map["apiVersion"] = "v1";
  map["kind"] = "ConfigMap";
  map["metadata"] = {{"name", kRecordName}, {"namespace", settings.own_namespace}};
  map["data"][kBeforeKey] = json::ToText(BeforeOf(state));
  return {.name = "record",
          .write = TakeoverWrite{.object = TakeoverObject::kRecord,
                                 .namespace_name = settings.own_namespace,
                                 .name = kRecordName,
                                 .patch = std::move(map),
                                 .is_creation = true,
                                 .in_words = fmt::format("ConfigMap {}/{}: is created with the values that are there",
                                                         settings.own_namespace, kRecordName)}};
}

// ---- taking over ----

TakeoverWrite OverridesWrite(const WholeClusterVersion& version, const json::Value& overrides) {
  json::Value patch;
  if (overrides.is_null()) {
    patch = json::Value::array();
    patch.push_back(
        {{"op", "replace"}, {"path", "/metadata/resourceVersion"}, {"value", version.metadata.resource_version}});
    patch.push_back({{"op", "remove"}, {"path", "/spec/overrides"}});
  } else {
    ReplacingPatch replacing(version.metadata);
    replacing.Set("/spec/overrides", overrides);
    patch = std::move(replacing).operations();
  }
  return {.object = TakeoverObject::kClusterVersion,
          .name = version.metadata.name,
          .patch = std::move(patch),
          .in_words = fmt::format("ClusterVersion {}: spec.overrides becomes {}", version.metadata.name,
                                  json::ToText(overrides))};
}

TakeoverStep OverridesStep(const TakeoverState& state, const TakeoverSettings& settings) {
  TakeoverStep step{.name = "overrides", .is_done = true};
  if (!state.cluster_version) return step;
  json::Value overrides = std::as_const(state.cluster_version->spec)["overrides"];
  if (std::any_of(overrides.begin(), overrides.end(),
                  [&](const json::Value& entry) { return IsOverride(entry, settings); })) {
    return step;
  }
  overrides.push_back({{"kind", "Deployment"},
                       {"group", "apps"},
                       {"namespace", settings.namespace_name},
                       {"name", kOldOperator},
                       {"unmanaged", true}});
  step.is_done = false;
  step.write = OverridesWrite(*state.cluster_version, overrides);
  return step;
}

TakeoverStep LeasesStep(const TakeoverState& state, const TakeoverSettings& settings, WallTime now) {
  TakeoverStep step{.name = "leases"};
  const bool is_led = IsOurs(state.controller_lease, settings);
  step.is_done = is_led && IsOurs(state.operator_lease, settings);
  if (step.is_done) return step;
  const bool is_ready = state.ours && NumberAt(state.ours->status, {"readyReplicas"}, 0) > 0;
  if (!is_ready) {
    step.waits_for =
        fmt::format("a replica of the Deployment {}/{} is ready", settings.own_namespace, settings.own_deployment);
    return step;
  }
  step.write = Hold(state.operator_lease, settings, now);
  if (!step.write) step.write = Hold(state.controller_lease, settings, now);
  step.waits_for = fmt::format("a replica of the Deployment {}/{} holds the Lease {}", settings.own_namespace,
                               settings.own_deployment, is_led ? kOperatorLeaseHeld : kControllerLeaseHeld);
  return step;
}

TakeoverStep StopStep(const char* name, const std::optional<WholeDeployment>& deployment) {
  TakeoverStep step{.name = name, .is_done = IsStopped(deployment)};
  if (step.is_done) return step;
  step.waits_for = fmt::format("the pods of the Deployment {} have ended", deployment->metadata.name);
  if (Replicas(deployment) != json::Value(0)) step.write = ScaleOf(*deployment, 0);
  return step;
}

TakeoverStep ServerStep(const TakeoverState& state) {
  TakeoverStep step{.name = "server", .is_done = true};
  if (!state.server) return step;
  json::Value selector = SelectorOf(*state.server);
  const bool is_set = selector.contains(kNowhereSelector);
  step.is_done = is_set && NumberAt(state.server->status, {"currentNumberScheduled"}, 0) == 0;
  if (step.is_done) return step;
  step.waits_for = fmt::format("the pods of the DaemonSet {} have ended", kOldServer);
  selector[kNowhereSelector] = "true";
  if (!is_set) step.write = SelectorWrite(*state.server, selector);
  return step;
}

// ---- going back ----

TakeoverStep LeaveStep(const TakeoverState& state, const TakeoverSettings& settings) {
  const bool we_hold = IsOurs(state.controller_lease, settings) || IsOurs(state.operator_lease, settings);
  TakeoverStep step{.name = "leave",
                    .is_done = IsOfOthers(state.controller_lease, settings) || (IsStopped(state.ours) && !we_hold)};
  if (step.is_done) return step;
  step.waits_for = "the replicas of Pintle have ended and have released the leases";
  if (state.ours && Replicas(state.ours) != json::Value(0)) step.write = ScaleOf(*state.ours, 0);
  return step;
}

TakeoverStep ScaleBackStep(const char* name, const std::optional<WholeDeployment>& deployment,
                           const json::Value& before) {
  TakeoverStep step{.name = name, .is_done = !deployment || before.is_null() || Replicas(deployment) == before};
  if (!step.is_done) step.write = ScaleOf(*deployment, before);
  return step;
}

TakeoverStep ServerBackStep(const TakeoverState& state, const json::Value& before) {
  TakeoverStep step{.name = "server", .is_done = !state.server || SelectorOf(*state.server) == before};
  if (step.is_done || !SelectorOf(*state.server).contains(kNowhereSelector)) return {.name = "server", .is_done = true};
  if (!before.is_null()) {
    step.write = SelectorWrite(*state.server, before);
    return step;
  }
  step.write = SelectorWrite(*state.server, json::Value::object());
  step.write->patch[1] = {{"op", "remove"}, {"path", "/spec/template/spec/nodeSelector"}};
  return step;
}

TakeoverStep OverridesBackStep(const TakeoverState& state, const TakeoverSettings& settings,
                               const json::Value& before) {
  TakeoverStep step{.name = "overrides", .is_done = true};
  if (!state.cluster_version) return step;
  // Overrides that somebody has added meanwhile stay.
  const json::Value& present = std::as_const(state.cluster_version->spec)["overrides"];
  const bool was_there =
      std::any_of(before.begin(), before.end(), [&](const json::Value& entry) { return IsOverride(entry, settings); });
  json::Value wanted = json::Value::array();
  for (const json::Value& entry : present) {
    if (was_there || !IsOverride(entry, settings)) wanted.push_back(entry);
  }
  if (wanted.size() == present.size()) return step;
  step.is_done = false;
  step.write = OverridesWrite(*state.cluster_version, wanted.empty() && before.is_null() ? json::Value() : wanted);
  return step;
}

TakeoverStep LedStep(const TakeoverState& state, const TakeoverSettings& settings, const json::Value& before) {
  TakeoverStep step{.name = "leases", .is_done = true};
  const auto lives = [](const json::Value& replicas) { return replicas.is_integer() && replicas.integer() > 0; };
  if (lives(before["controller"]) && !IsOfOthers(state.controller_lease, settings)) {
    step.is_done = false;
    step.waits_for = fmt::format("{} holds its Lease", kOldController);
  } else if (lives(before["operator"]) && !IsOfOthers(state.operator_lease, settings)) {
    step.is_done = false;
    step.waits_for = fmt::format("{} holds its Lease", kOldOperator);
  } else {
    step.write = ForgetHold(state.operator_lease);
    if (!step.write) step.write = ForgetHold(state.controller_lease);
    step.is_done = !step.write;
  }
  return step;
}

TakeoverStep ForgetStep(const TakeoverState& state) {
  TakeoverStep step{.name = "record", .is_done = !state.record};
  if (step.is_done) return step;
  step.write =
      TakeoverWrite{.object = TakeoverObject::kRecord,
                    .namespace_name = state.record->metadata.namespace_name,
                    .name = state.record->metadata.name,
                    .patch = {},
                    .in_words = fmt::format("ConfigMap {}/{}: is removed", state.record->metadata.namespace_name,
                                            state.record->metadata.name)};
  return step;
}

}  // namespace

std::vector<TakeoverStep> StepsToTakeOver(const TakeoverState& state, const TakeoverSettings& settings, WallTime now) {
  std::vector<TakeoverStep> steps;
  steps.push_back(RecordStep(state, settings));
  steps.push_back(OverridesStep(state, settings));
  steps.push_back(LeasesStep(state, settings, now));
  // The operator would start its controller again.
  steps.push_back(StopStep("operator", state.operators));
  steps.push_back(StopStep("controller", state.controller));
  if (settings.with_server) steps.push_back(ServerStep(state));
  return steps;
}

std::vector<TakeoverStep> StepsToUndo(const TakeoverState& state, const TakeoverSettings& settings, WallTime) {
  const json::Value before = RecordedIn(state);
  std::vector<TakeoverStep> steps;
  if (before.is_null()) return steps;
  steps.push_back(LeaveStep(state, settings));
  steps.push_back(ServerBackStep(state, before["server"]));
  steps.push_back(ScaleBackStep("controller", state.controller, before["controller"]));
  steps.push_back(ScaleBackStep("operator", state.operators, before["operator"]));
  steps.push_back(OverridesBackStep(state, settings, before["overrides"]));
  steps.push_back(LedStep(state, settings, before));
  steps.push_back(ScaleBackStep("replicas", state.ours, before["ours"]));
  steps.push_back(ForgetStep(state));
  return steps;
}

const TakeoverStep* NextOf(const std::vector<TakeoverStep>& steps) {
  const auto next = std::find_if(steps.begin(), steps.end(), [](const TakeoverStep& step) { return !step.is_done; });
  return next == steps.end() ? nullptr : &*next;
}

}  // namespace pintle::controller
