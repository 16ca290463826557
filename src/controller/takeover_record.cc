// SPDX-License-Identifier: Apache-2.0
#include "controller/takeover_record.h"

#include <fmt/core.h>

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "controller/replacing_patch.h"
#include "controller/takeover_daemons.h"
#include "controller/takeover_leases.h"
#include "controller/takeover_overrides.h"
#include "controller/takeover_pods.h"
#include "json/parse.h"

namespace pintle::controller {
namespace {

constexpr const char* kRecordName = "pintle-takeover";
constexpr const char* kBeforeKey = "before.json";  // The entry of the record with the values before the takeover.
constexpr const char* kVerbKey = "verb";
constexpr const char* kStartVerb = "start";
constexpr const char* kUndoVerb = "undo";

// Returns the values for a record of the present state.
json::Value BeforeOf(const TakeoverState& state) {
  json::Value before = json::Value::object();
  if (state.cluster_version) before["overrides"] = std::as_const(state.cluster_version->spec)["overrides"];
  before["operator"] = Replicas(state.operators);
  before["controller"] = Replicas(state.controller);
  before["ours"] = Replicas(state.ours);
  if (state.server) before["server"] = NodeSelectorOf(*state.server);
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

// Returns the write that creates the record with these entries.
TakeoverWrite RecordCreation(json::Value entries, const TakeoverSettings& settings, std::string in_words) {
  json::Value map;
  map["apiVersion"] = "v1";
  map["kind"] = "ConfigMap";
  map["metadata"] = {{"name", kRecordName}, {"namespace", settings.own_namespace}};
  map["data"] = std::move(entries);
  return {.object = TakeoverObject::kRecord,
          .namespace_name = settings.own_namespace,
          .name = kRecordName,
          .patch = std::move(map),
          .is_creation = true,
          .in_words = std::move(in_words)};
}

json::Value EntriesWith(const json::Value& before, const char* verb) {
  return {{kBeforeKey, json::ToText(before)}, {kVerbKey, verb}};
}

// Returns the traces that only a takeover leaves in a cluster.  An override is no such trace, since others may have
// made it.
std::vector<std::string> TracesOf(const TakeoverState& state, const TakeoverSettings& settings) {
  std::vector<std::string> traces;
  if (state.server && NodeSelectorOf(*state.server).contains(kNoNodeSelector)) {
    traces.push_back(fmt::format("the node selector of the DaemonSet {}", state.server->metadata.name));
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
  const std::int64_t recorded = NumberIn(before, "ours");
  return recorded > 0 ? recorded : 2;
}

// Returns the values for a record that was lost.  A value that the takeover has changed is replaced: the number of
// replicas by that of ScaledDownFrom(), and any other value by what OpenShift installs.
json::Value InstalledBefore(const TakeoverState& state, const TakeoverSettings& settings) {
  json::Value before = BeforeOf(state);
  for (const auto& [name, deployment] :
       {std::pair("operator", &state.operators), std::pair("controller", &state.controller)}) {
    if (json::Value replicas = ScaledDownFrom(*deployment); !replicas.is_null()) before[name] = std::move(replicas);
  }
  if (before["ours"] == json::Value(0)) before["ours"] = OurReplicasIn(before);
  before["overrides"] = OtherOverrides(before["overrides"], settings);
  if (state.server) {
    json::Value selector = NodeSelectorOf(*state.server);
    if (selector.is_object()) selector.Erase(kNoNodeSelector);
    before["server"] = selector.empty() ? json::Value() : std::move(selector);
  }
  if (state.daemon) before["daemon"] = InstalledRecordOfDaemon(*state.daemon);
  return before;
}

}  // namespace

TakeoverStep StartRecordStep(const TakeoverState& state, const TakeoverSettings& settings) {
  if (!RecordedIn(state).is_null()) return VerbStep(*state.record, kStartVerb);
  // A new record would contain the values that the takeover has set, and undo could not restore the values before it.
  if (!LossOfRecord(state, settings).empty()) {
    return {
        .name = "record",
        .waits_for = fmt::format("the record can be read: the ConfigMap {}/{}", settings.own_namespace, kRecordName)};
  }
  return {.name = "record",
          .write = RecordCreation(
              EntriesWith(BeforeOf(state), kStartVerb), settings,
              fmt::format("ConfigMap {}/{}: is created with the present values", settings.own_namespace, kRecordName))};
}

TakeoverStep UndoRecordStep(const TakeoverState& state, const TakeoverSettings& settings, const json::Value& before) {
  if (!RecordedIn(state).is_null()) return VerbStep(*state.record, kUndoVerb);
  TakeoverWrite write =
      RecordCreation(EntriesWith(before, kUndoVerb), settings,
                     fmt::format("ConfigMap {}/{}: gets the values that OpenShift installs, because {}",
                                 settings.own_namespace, kRecordName, LossOfRecord(state, settings)));
  if (state.record) {
    ReplacingPatch patch(state.record->metadata);
    patch.Set("/data", write.patch["data"]);
    write.patch = std::move(patch).operations();
    write.is_creation = false;
  }
  return {.name = "record", .write = std::move(write)};
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

std::optional<json::Value> ValuesBefore(const TakeoverState& state, const TakeoverSettings& settings) {
  if (json::Value recorded = RecordedIn(state); !recorded.is_null()) return recorded;
  if (LossOfRecord(state, settings).empty()) return std::nullopt;
  return InstalledBefore(state, settings);
}

json::Value OurReplicasBefore(const TakeoverState& state) { return OurReplicasIn(RecordedIn(state)); }

bool IsBeingUndone(const TakeoverState& state) { return state.record && VerbIn(*state.record) == kUndoVerb; }

std::string WhyTakeoverMustNotBegin(const TakeoverState& state, const TakeoverSettings& settings) {
  const std::string loss = LossOfRecord(state, settings);
  if (loss.empty()) return "";
  return fmt::format(
      "ConfigMap {}/{}, the record of a takeover: {}; run `pintle-controller takeover undo`, which restores what "
      "OpenShift installs",
      settings.own_namespace, kRecordName, loss);
}

}  // namespace pintle::controller
