// SPDX-License-Identifier: Apache-2.0
#include "drain/protocol.h"

#include <fmt/core.h>

namespace pintle::drain {
namespace {

// Returns nullopt if the text is about another drain or is malformed.
std::optional<WallTime> StartIn(const Request& request, std::string_view text) {
  const std::size_t blank = text.find(' ');
  if (blank == std::string_view::npos || text.substr(blank + 1) != request.ToText()) return std::nullopt;
  const auto when = FromRfc3339(text.substr(0, blank));
  return when ? std::optional(*when) : std::nullopt;
}

}  // namespace

std::string Request::ToText() const {
  return fmt::format("{}{}", verb == Verb::kDrain ? api::kDrainPrefix : api::kUncordonPrefix, config);
}

Result<Request> ParseRequest(std::string_view text) {
  for (const Verb verb : {Verb::kDrain, Verb::kUncordon}) {
    const std::string_view prefix = verb == Verb::kDrain ? api::kDrainPrefix : api::kUncordonPrefix;
    if (text.starts_with(prefix)) return Request{verb, std::string(text.substr(prefix.size()))};
  }
  // The error is that of the Machine Config Operator, which takes the text before the first hyphen for the verb.
  return Error(ErrorKind::kInvalid,
               fmt::format("non-recognized drain verb detected {}", text.substr(0, text.find('-'))));
}

DrainState DrainStateOf(const api::Node& node) {
  DrainState state = {.is_cordoned = node.spec.unschedulable};
  const std::string& asked = node.metadata.Annotation(api::kDesiredDrainAnnotation);
  if (asked == node.metadata.Annotation(api::kLastAppliedDrainAnnotation)) return state;
  const auto request = ParseRequest(asked);
  if (!request) {
    state.misunderstood = request.error().message();
    return state;
  }
  state.asked = *request;
  state.started = StartIn(*request, node.metadata.Annotation(kStartedAnnotation));
  return state;
}

std::string StartedText(WallTime when, const Request& request) {
  return fmt::format("{} {}", ToRfc3339(when), request.ToText());
}

}  // namespace pintle::drain
