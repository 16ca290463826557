// SPDX-License-Identifier: Apache-2.0
#pragma once

// How far a rollout by a RolloutPolicy is: its wave, what it waits for and since when, its next window, and its
// earliest end.
//
// `kubectl pintle status` takes this from the status that the controller has written, and `pintle rollout` from a
// decision of its own.  The earliest end is simulated in both.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/rollout_policy.h"
#include "base/clock.h"
#include "ctl/display_zone.h"
#include "json/field_list.h"
#include "pool/rollout_policy.h"
#include "pool/waved_rollout.h"

namespace pintle::ctl {

// The policy of a pool, in the form in which rollouts are decided.
struct CheckedPolicy {
  const api::RolloutPolicy* source;
  std::optional<pool::Policy> compiled;  // Unset if the policy cannot be used.
  std::string why_unusable;
  DisplayZone zone;
  const api::RolloutPoolStatus* reported = nullptr;  // What the controller has reported about the pool, if anything.

  // The policy must outlive the result.
  static CheckedPolicy Of(const api::RolloutPolicy& source, std::string_view pool);

  // Returns the remembered state of the rollout, which is empty if the controller has reported nothing.
  const api::RolloutMemory& memory() const;
};

// A decision by a policy that is made without the controller.
struct PolicyDecisionPreview {
  pool::PolicyRollout decided;
  api::RolloutPoolStatus status;      // The status that the controller would write.
  std::vector<std::string> warnings;  // Each names an assumption about something that only the controller knows.
};

// Decides by a policy that can be used, as the controller would at this time.  The controller writes a changed memory
// first and decides again; this function decides again at once, until the memory stays the same.  Gates that ask a
// server count as met unless the controller has remembered that they block.
PolicyDecisionPreview PreviewDecision(const CheckedPolicy& policy, const pool::Situation& situation, WallTime now);

// The progress in the form that `-o json` prints.
struct RolloutProgress {
  std::string policy;
  std::optional<std::string> problem;  // Why nothing more is known, for example because the policy cannot be used.
  std::optional<std::string> phase;
  std::optional<std::string> message;  // What the rollout does, or what it waits for.
  std::optional<std::string> since;    // The time since which the rollout is in this phase.
  std::optional<std::int32_t> wave;    // From 1.
  std::optional<std::int32_t> waves;
  std::optional<std::string> wave_name;
  std::optional<std::int32_t> nodes;
  std::optional<std::int32_t> updated;
  std::optional<std::string> opens;  // When the present or the next window begins.
  std::optional<std::string> closes;
  std::optional<std::string> time_zone;  // The zone in which people get these times.
  std::optional<std::string> earliest_end;
  std::optional<std::int64_t> node_seconds;
  std::optional<std::string> node_time_from;  // "Nodes" if it was measured, or "Guess".
  std::optional<std::string> no_end;          // Why the rollout does not end by itself, or why the end is not known.

  static constexpr auto kFields = json::FieldList{
      json::Required{"policy", &RolloutProgress::policy},
      json::Field{"problem", &RolloutProgress::problem},
      json::Field{"phase", &RolloutProgress::phase},
      json::Field{"message", &RolloutProgress::message},
      json::Field{"since", &RolloutProgress::since},
      json::Field{"wave", &RolloutProgress::wave},
      json::Field{"waves", &RolloutProgress::waves},
      json::Field{"waveName", &RolloutProgress::wave_name},
      json::Field{"nodes", &RolloutProgress::nodes},
      json::Field{"updated", &RolloutProgress::updated},
      json::Field{"opens", &RolloutProgress::opens},
      json::Field{"closes", &RolloutProgress::closes},
      json::Field{"timeZone", &RolloutProgress::time_zone},
      json::Field{"earliestEnd", &RolloutProgress::earliest_end},
      json::Field{"nodeSeconds", &RolloutProgress::node_seconds},
      json::Field{"nodeTimeFrom", &RolloutProgress::node_time_from},
      json::Field{"noEnd", &RolloutProgress::no_end},
  };

  bool is_complete() const { return phase == "Complete"; }
};

// Returns the progress of a rollout with this status.  The end is simulated if `situation` is not nullptr.
RolloutProgress ProgressOf(const CheckedPolicy& policy, const api::RolloutPoolStatus* status,
                           const pool::Situation* situation, WallTime now);

// Returns the progress for people: one line, and below it more lines that are indented by two blanks.
std::string ProgressText(const RolloutProgress& progress, const CheckedPolicy& policy, WallTime now);

}  // namespace pintle::ctl
