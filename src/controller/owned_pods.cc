// SPDX-License-Identifier: Apache-2.0
#include "controller/owned_pods.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace pintle::controller {
namespace {

// Returns the text of one of `matchExpressions`, or nullopt if its operator is unknown.
std::optional<std::string> SelectorCondition(const json::Value& expression) {
  const std::string key = expression.TextAt({"key"});
  const std::string comparison = expression.TextAt({"operator"});
  if (comparison == "Exists") return key;
  if (comparison == "DoesNotExist") return "!" + key;
  if (comparison != "In" && comparison != "NotIn") return std::nullopt;
  std::vector<std::string> values;
  for (const json::Value& value : expression["values"]) {
    if (value.is_string()) values.push_back(value.text());
  }
  return fmt::format("{} {} ({})", key, comparison == "In" ? "in" : "notin", fmt::join(values, ","));
}

// Returns the node that a term of an affinity names, or "".
std::string NodeNamedIn(const json::Value& term) {
  for (const json::Value& field : term["matchFields"]) {
    const json::Value& values = field["values"];
    const bool names_one = field.TextAt({"key"}) == "metadata.name" && field.TextAt({"operator"}) == "In" &&
                           values.is_array() && values.size() == 1 && values.begin()->is_string();
    if (names_one) return values.begin()->text();
  }
  return "";
}

}  // namespace

std::string PodSelectorOf(const WholeObject& owner) {
  std::vector<std::string> conditions;
  const json::Value* const labels = owner.spec.Find({"selector", "matchLabels"});
  if (labels != nullptr && labels->is_object()) {
    for (const auto& [key, value] : labels->members()) {
      if (value.is_string()) conditions.push_back(fmt::format("{}={}", key, value.text()));
    }
  }
  if (const json::Value* const expressions = owner.spec.Find({"selector", "matchExpressions"})) {
    for (const json::Value& expression : *expressions) {
      auto condition = SelectorCondition(expression);
      if (!condition) return "";
      conditions.push_back(*std::move(condition));
    }
  }
  return fmt::format("{}", fmt::join(conditions, ","));
}

std::string NodeAwaitedBy(const WholePod& pod) {
  if (!pod.spec.TextAt({"nodeName"}).empty()) return "";
  const json::Value* const terms = pod.spec.Find(
      {"affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"});
  if (terms == nullptr) return "";
  for (const json::Value& term : *terms) {
    if (std::string node = NodeNamedIn(term); !node.empty()) return node;
  }
  return "";
}

bool IsReady(const WholePod& pod) {
  if (pod.metadata.deletion_timestamp) return false;
  const json::Value& conditions = pod.status["conditions"];
  return std::any_of(conditions.begin(), conditions.end(), [](const json::Value& condition) {
    return condition.TextAt({"type"}) == "Ready" && condition.TextAt({"status"}) == "True";
  });
}

}  // namespace pintle::controller
