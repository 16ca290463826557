// SPDX-License-Identifier: Apache-2.0
#pragma once

// The protocol between a node's agent and the controller for drains, which uses annotations of the Node.
//
// The agent requests "drain-<config>" or "uncordon-<config>" in `desiredDrain`.  When the controller has carried the
// request out, it copies the request to `lastAppliedDrain`.

#include <optional>
#include <string>
#include <string_view>

#include "api/annotations.h"
#include "api/node.h"
#include "base/clock.h"
#include "base/result.h"

namespace pintle::drain {

// The start of the current drain, and its request: "2026-11-21T20:00:00Z drain-rendered-worker-2".
inline constexpr std::string_view kStartedAnnotation = "pintle.io/drain-started";
// Set if somebody had cordoned the node before it was drained.  Then the node stays cordoned after the drain.
inline constexpr std::string_view kKeepCordonedAnnotation = "pintle.io/keep-cordoned";

enum class Verb { kDrain, kUncordon };

struct Request {
  Verb verb = Verb::kDrain;
  std::string config;

  bool operator==(const Request&) const = default;
  // Returns text such as "drain-rendered-worker-2".
  std::string ToText() const;
};

// The name of the config may be any text.  An unknown verb is an error.
Result<Request> ParseRequest(std::string_view text);

// The state of a Node's drain, from the Node's annotations and from `spec.unschedulable`.
struct DrainState {
  std::optional<Request> asked = {};  // The request, if it is not answered yet.
  std::string misunderstood = {};     // The error, if the request is malformed.
  bool is_cordoned = false;
  std::optional<WallTime> started = {};  // The start of the requested drain.

  bool operator==(const DrainState&) const = default;
};
DrainState DrainStateOf(const api::Node& node);

// Returns the value of kStartedAnnotation.
std::string StartedText(WallTime when, const Request& request);

}  // namespace pintle::drain
