// SPDX-License-Identifier: Apache-2.0
#include "controller/takeover_pods.h"

#include <fmt/core.h>

#include <utility>

#include "controller/replacing_patch.h"
#include "json/parse.h"

namespace pintle::controller {
namespace {

// An annotation of a Deployment that a takeover has scaled down, with the number of replicas before.  A takeover whose
// record is lost is recognized by this annotation.  A Deployment without it was not scaled down by a takeover.
constexpr const char* kReplicasAnnotation = "pintle.io/replicas-before";

TakeoverWrite ScaleWrite(const WholeDeployment& deployment, const json::Value& replicas, json::Value patch) {
  return {
      .object = TakeoverObject::kDeployment,
      .namespace_name = deployment.metadata.namespace_name,
      .name = deployment.metadata.name,
      .patch = std::move(patch),
      .in_words = fmt::format("Deployment {}/{}: spec.replicas from {} to {}", deployment.metadata.namespace_name,
                              deployment.metadata.name, json::ToText(Replicas(deployment)), json::ToText(replicas))};
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

}  // namespace

std::int64_t NumberIn(const json::Value& object, std::string_view key, std::int64_t fallback) {
  const json::Value& number = object[key];
  return number.is_integer() ? number.integer() : fallback;
}

json::Value Replicas(const std::optional<WholeDeployment>& deployment) {
  // A Deployment without the field has one replica.
  return deployment ? json::Value(NumberIn(deployment->spec, "replicas", 1)) : json::Value();
}

bool IsStopped(const std::optional<WholeDeployment>& deployment) {
  if (!deployment) return true;
  const json::Value& status = deployment->status;
  // Before the Deployment's controller has seen that there are to be no replicas, it may still start one.
  const bool is_seen = NumberIn(status, "observedGeneration") >= deployment->metadata.generation;
  return Replicas(deployment) == json::Value(0) && is_seen && NumberIn(status, "replicas") == 0;
}

json::Value ScaledDownFrom(const std::optional<WholeDeployment>& deployment) {
  if (!deployment) return {};
  const auto replicas = json::Parse(deployment->metadata.Annotation(kReplicasAnnotation));
  return replicas && replicas->is_integer() ? *replicas : json::Value();
}

TakeoverWrite ScaleOf(const WholeDeployment& deployment, const json::Value& replicas) {
  ReplacingPatch patch(deployment.metadata);
  patch.Set("/spec/replicas", replicas);
  return ScaleWrite(deployment, replicas, std::move(patch).operations());
}

TakeoverStep StopStep(const char* name, const std::optional<WholeDeployment>& deployment, const TakeoverState& state) {
  TakeoverStep step{.name = name, .is_done = IsStopped(deployment)};
  if (deployment && state.remaining_pods.contains(deployment->metadata.name)) step.is_done = false;
  if (step.is_done) return step;
  step.waits_for = EndOfPodsText("Deployment", deployment->metadata.name, state);
  if (Replicas(deployment) != json::Value(0)) step.write = ScaleDownWrite(*deployment);
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

const json::Value& NodeSelectorOf(const WholeDaemonSet& daemon_set) {
  static const json::Value kNone;
  const json::Value* const selector = daemon_set.spec.Find({"template", "spec", "nodeSelector"});
  return selector == nullptr ? kNone : *selector;
}

TakeoverWrite NodeSelectorWrite(const WholeDaemonSet& daemon_set, const json::Value& selector) {
  constexpr const char* kPath = "/spec/template/spec/nodeSelector";
  ReplacingPatch patch(daemon_set.metadata);
  selector.is_null() ? patch.Remove(kPath) : patch.Set(kPath, selector);
  return {
      .object = TakeoverObject::kDaemonSet,
      .namespace_name = daemon_set.metadata.namespace_name,
      .name = daemon_set.metadata.name,
      .patch = std::move(patch).operations(),
      .in_words = fmt::format("DaemonSet {}/{}: spec.template.spec.nodeSelector becomes {}",
                              daemon_set.metadata.namespace_name, daemon_set.metadata.name, json::ToText(selector))};
}

bool IsToHaveNoPods(const WholeObject& owner) {
  const json::Value* const selector = owner.spec.Find({"template", "spec", "nodeSelector"});
  const bool is_nowhere = selector != nullptr && selector->contains(kNoNodeSelector);
  return is_nowhere || NumberIn(owner.spec, "replicas", 1) == 0;
}

std::string EndOfPodsText(std::string_view kind, const std::string& name, const TakeoverState& state) {
  const auto pods = state.remaining_pods.find(name);
  return fmt::format("the pods of the {} {} have ended{}", kind, name,
                     pods == state.remaining_pods.end() ? "" : ": " + pods->second);
}

}  // namespace pintle::controller
