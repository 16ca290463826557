// SPDX-License-Identifier: Apache-2.0
#pragma once

// How a node's agent and the controller speak about a drain: by annotations of the Node.
//
// The agent asks by `desiredDrain`, "drain-<config>" or "uncordon-<config>".  The controller writes the same to
// `lastAppliedDrain` when that is done, and not before.

#include <optional>
#include <string>
#include <string_view>

#include "api/annotations.h"
#include "api/node.h"
#include "base/clock.h"
#include "base/result.h"

namespace pintle::drain {

// When the drain began that is under way, and which one: "2026-11-21T20:00:00Z drain-rendered-worker-2".
inline constexpr std::string_view kStartedAnnotation = "pintle.io/drain-started";
// Somebody had cordoned the node before it was drained, and so it stays cordoned afterwards.
inline constexpr std::string_view kKeepCordonedAnnotation = "pintle.io/keep-cordoned";

enum class Verb { kDrain, kUncordon };

struct Request {
  Verb verb = Verb::kDrain;
  std::string config;

  bool operator==(const Request&) const = default;
  // "drain-rendered-worker-2"
  std::string ToText() const;
};

// The name of a config may be anything.  A verb that is not known is an error.
Result<Request> ParseRequest(std::string_view text);

// What a Node says of drains.
struct View {
  std::optional<Request> asked = {};  // And not answered.
  std::string misunderstood = {};     // What is asked and makes no sense.
  bool is_cordoned = false;
  std::optional<WallTime> started = {};  // Of the drain that is asked for.

  bool operator==(const View&) const = default;
};
View ViewOf(const api::Node& node);

// The value of kStartedAnnotation.
std::string StartedText(WallTime when, const Request& request);

}  // namespace pintle::drain
