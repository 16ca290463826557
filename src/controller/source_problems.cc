// SPDX-License-Identifier: Apache-2.0
#include "controller/source_problems.h"

#include <utility>

namespace pintle::controller {
namespace {

// Returns the message of a condition that reports a problem, or "".
std::string ProblemIn(SourceKind source, const json::Value& condition) {
  const std::string& type = condition.TextAt({"type"});
  const bool is_true = condition.TextAt({"status"}) == "True";
  bool is_problem = false;
  switch (source) {
    case SourceKind::kControllerConfig:
      is_problem = is_true && type == "TemplateControllerFailing";
      break;
    case SourceKind::kKubeletConfig:
    case SourceKind::kContainerRuntimeConfig:
      is_problem = is_true && type == "Failure";
      break;
    case SourceKind::kImagePolicy:
    case SourceKind::kCredentialProviderConfig:
      is_problem = !is_true;
      break;
  }
  return is_problem ? condition.TextAt({"message"}) : "";
}

}  // namespace

std::string_view KindOfSource(SourceKind kind) {
  switch (kind) {
    case SourceKind::kControllerConfig:
      return "ControllerConfig";
    case SourceKind::kKubeletConfig:
      return "KubeletConfig";
    case SourceKind::kContainerRuntimeConfig:
      return "ContainerRuntimeConfig";
    case SourceKind::kImagePolicy:
      return "ImagePolicy";
    case SourceKind::kCredentialProviderConfig:
      return "CRIOCredentialProviderConfig";
  }
  return "";
}

std::vector<std::string> ProblemsIn(SourceKind source, const json::Value& status) {
  std::vector<std::string> problems;
  const json::Value& conditions = status["conditions"];
  // The conditions of these two kinds are a history, so only the last condition counts.
  const bool is_history = source == SourceKind::kKubeletConfig || source == SourceKind::kContainerRuntimeConfig;
  for (const json::Value& condition : conditions) {
    if (is_history && &condition != &conditions.elements().back()) continue;
    std::string message = ProblemIn(source, condition);
    if (!message.empty()) problems.push_back(std::move(message));
  }
  return problems;
}

}  // namespace pintle::controller
