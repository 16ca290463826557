// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds the notices that are sent to the webhook of `--notify-url`.
//
// A notice is about something that has happened, such as the end of a wave.  NoticesOf() is a pure function that
// returns the notices about the present state, and NewNotices() returns those that were not there before.  A new leader
// knows no earlier notices, so it repeats the notices about the present state; this also makes up for notices that the
// previous leader could not send.  The id of a notice is a digest of what has happened, and not of who noticed it, so
// receivers recognize the repetition.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "controller/pause_report.h"
#include "controller/pool_members.h"
#include "controller/pool_policies.h"
#include "controller/view.h"
#include "json/value.h"

namespace pintle::controller {

// The types of notices, as they are in the attribute `type` of CloudEvents.
inline constexpr const char* kRolloutBegun = "io.pintle.rollout.begun";
inline constexpr const char* kRolloutWaveDone = "io.pintle.rollout.wave-done";
inline constexpr const char* kRolloutHalted = "io.pintle.rollout.halted";
inline constexpr const char* kRolloutFinished = "io.pintle.rollout.finished";
inline constexpr const char* kNodeDegraded = "io.pintle.node.degraded";
inline constexpr const char* kNodeRejected = "io.pintle.node.rejected";
inline constexpr const char* kCertificateExpiring = "io.pintle.certificate.expiring";
inline constexpr const char* kCertificateExpired = "io.pintle.certificate.expired";

struct Notice {
  std::string id;
  std::string type;
  std::string subject;         // Such as "machineconfigpools/worker".
  std::optional<WallTime> at;  // The time of what has happened; nullopt if the cluster has no record of the time.
  json::Value data;
};

// The inputs of NoticesOf(); borrowed for the call.
struct NoticeInputs {
  const View& view;
  const PoolMembers& members;
  const PoolPolicies& policies;
  std::function<const PauseReport*(const std::string& pool)> pause_of;  // May return nullptr.
  WallTime now;
};

// Returns the notices about the present state, pool by pool.  The notices about a rollout are in the order of its
// steps.
std::vector<Notice> NoticesOf(const NoticeInputs& inputs);

// The notices that are known already.  Maps each id to the time at which it was last among the present notices.
using KnownNotices = std::map<std::string, MonotonicTime, std::less<>>;

// Returns the notices of `present` that are not known, and adds them to `known`.  A notice that is not present any more
// is known for another day, since a state such as "all nodes have the target" may be interrupted.  If very many are
// known, the oldest of those that are not present are forgotten: a node can report any number of faults in a day.
std::vector<Notice> NewNotices(KnownNotices& known, std::vector<Notice> present, MonotonicTime now);

}  // namespace pintle::controller
