// SPDX-License-Identifier: Apache-2.0
#include "drain/node_changes.h"

#include <string>
#include <string_view>
#include <utility>

namespace pintle::drain {
namespace {

bool Has(const api::Node& node, std::string_view annotation) {
  return api::Find(node.metadata.annotations, annotation) != nullptr;
}

bool StillAsks(const api::Node& node, const Request& request) { return DrainStateOf(node).asked == request; }

// Returns whether the node is cordoned for a drain, perhaps for a drain that an earlier desired config required.
bool IsCordonedForDrain(const api::Node& node) {
  return Has(node, kStartedAnnotation) ||
         node.metadata.Annotation(api::kLastAppliedDrainAnnotation).starts_with(api::kDrainPrefix);
}

json::Value WithAnnotations(json::Value annotations) {
  return {{"metadata", {{"annotations", std::move(annotations)}}}};
}

std::string AsString(std::string_view annotation) { return std::string(annotation); }

}  // namespace

bool KeepsCordon(const api::Node& node) { return Has(node, kKeepCordonedAnnotation); }

std::optional<json::Value> CordonPatch(const api::Node& now, const Request& request, WallTime when) {
  if (!StillAsks(now, request)) return std::nullopt;
  const bool is_cordoned = now.spec.unschedulable;
  const bool has_start = DrainStateOf(now).started.has_value();
  if (is_cordoned && has_start) return std::nullopt;
  json::Value annotations = json::Value::object();
  if (!has_start) annotations[AsString(kStartedAnnotation)] = StartedText(when, request);
  if (is_cordoned && !IsCordonedForDrain(now)) annotations[AsString(kKeepCordonedAnnotation)] = "true";
  if (!is_cordoned && KeepsCordon(now)) annotations[AsString(kKeepCordonedAnnotation)] = nullptr;
  json::Value patch = WithAnnotations(std::move(annotations));
  if (!is_cordoned) patch["spec"] = {{"unschedulable", true}};
  return patch;
}

std::optional<json::Value> UncordonPatch(const api::Node& now, const Request& request) {
  if (!StillAsks(now, request) || !now.spec.unschedulable || KeepsCordon(now)) return std::nullopt;
  return json::Value{{"spec", {{"unschedulable", nullptr}}}};
}

std::optional<json::Value> AnswerPatch(const api::Node& now, const Request& request) {
  if (!StillAsks(now, request)) return std::nullopt;
  const bool is_uncordon = request.verb == Verb::kUncordon;
  if (!is_uncordon && !now.spec.unschedulable) return std::nullopt;
  json::Value annotations = {{AsString(api::kLastAppliedDrainAnnotation), request.ToText()}};
  if (Has(now, kStartedAnnotation)) annotations[AsString(kStartedAnnotation)] = nullptr;
  if (is_uncordon && KeepsCordon(now)) annotations[AsString(kKeepCordonedAnnotation)] = nullptr;
  return WithAnnotations(std::move(annotations));
}

}  // namespace pintle::drain
