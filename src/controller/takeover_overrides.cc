// SPDX-License-Identifier: Apache-2.0
#include "controller/takeover_overrides.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "controller/replacing_patch.h"
#include "json/parse.h"

namespace pintle::controller {
namespace {

constexpr const char* kOverriddenDeployment = "machine-config-operator";

// Returns whether an entry of spec.overrides is about the operator's Deployment.  The cluster's version operator
// compares all of these fields, also the group.
bool NamesOperator(const json::Value& entry, const TakeoverSettings& settings) {
  return entry.TextAt({"group"}) == "apps" && entry.TextAt({"kind"}) == "Deployment" &&
         entry.TextAt({"namespace"}) == settings.namespace_name && entry.TextAt({"name"}) == kOverriddenDeployment;
}

// Returns whether an entry of spec.overrides leaves the operator's Deployment unmanaged, as the entry of a takeover
// does.
bool IsOverride(const json::Value& entry, const TakeoverSettings& settings) {
  return NamesOperator(entry, settings) && entry["unmanaged"] == json::Value(true);
}

bool HasOverride(const TakeoverState& state, const TakeoverSettings& settings) {
  if (!state.cluster_version) return false;
  const json::Value& overrides = std::as_const(state.cluster_version->spec)["overrides"];
  return std::any_of(overrides.begin(), overrides.end(),
                     [&](const json::Value& entry) { return IsOverride(entry, settings); });
}

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

}  // namespace

TakeoverStep OverridesStep(const TakeoverState& state, const TakeoverSettings& settings) {
  TakeoverStep step{.name = "overrides", .is_done = true};
  if (!state.cluster_version || HasOverride(state, settings)) return step;
  const json::Value ours = {{"kind", "Deployment"},
                            {"group", "apps"},
                            {"namespace", settings.namespace_name},
                            {"name", kOverriddenDeployment},
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

json::Value OtherOverrides(const json::Value& overrides, const TakeoverSettings& settings) {
  json::Value others;
  for (const json::Value& entry : overrides) {
    if (!IsOverride(entry, settings)) others.push_back(entry);
  }
  return others;
}

std::string NoticeOfOverride(const TakeoverState& state, const TakeoverSettings& settings) {
  if (state.record || !HasOverride(state, settings)) return "";
  return fmt::format(
      "The ClusterVersion {} has an override for the Deployment {}/{}, but there is no record of a takeover; remove "
      "the override from spec.overrides if nobody needs it.",
      state.cluster_version->metadata.name, settings.namespace_name, kOverriddenDeployment);
}

}  // namespace pintle::controller
