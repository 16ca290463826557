// SPDX-License-Identifier: Apache-2.0
#include "pool/waved_rollout.h"

#include <fmt/core.h>

#include <cstddef>
#include <string_view>

#include "base/digest.h"
#include "pool/follower.h"

namespace pintle::pool {

const char* NameOf(RolloutPhase phase) {
  switch (phase) {
    case RolloutPhase::kHeld:
      return "Held";
    case RolloutPhase::kUpdating:
      return "Updating";
    case RolloutPhase::kSoaking:
      return "Soaking";
    case RolloutPhase::kAwaitingApproval:
      return "AwaitingApproval";
    case RolloutPhase::kStaging:
      return "Staging";
    case RolloutPhase::kAwaitingGate:
      return "AwaitingGate";
    case RolloutPhase::kAwaitingWindow:
      return "AwaitingWindow";
    case RolloutPhase::kFrozen:
      return "Frozen";
    case RolloutPhase::kHalted:
      return "Halted";
    case RolloutPhase::kComplete:
      return "Complete";
  }
  return "";
}

PolicyRollout DecideByPolicy(const Situation& situation, const PolicyInputs& inputs) {
  return Follower(situation, inputs).Follow();
}

std::string DigestOfWave(const Policy& policy, std::size_t wave, std::string_view target) {
  const std::string& definition = policy.waves[wave].definition;
  std::size_t alike_before = 0;
  for (std::size_t i = 0; i < wave; ++i) alike_before += policy.waves[i].definition == definition ? 1 : 0;
  return Sha256(fmt::format("{}\n{}\n{}", target, alike_before, definition)).hex();
}

api::RolloutPoolStatus StatusOf(const Situation& situation, const PolicyRollout& decided,
                                const api::RolloutPoolStatus* before, WallTime now) {
  api::RolloutPoolStatus status;
  status.name = situation.pool.metadata.name;
  status.phase = NameOf(decided.phase);
  status.message = decided.message;
  const bool is_same = before != nullptr && before->phase == status.phase && before->since;
  status.since = is_same ? before->since : At(now);
  status.wave = decided.wave;
  status.waves = decided.waves;
  status.wave_digest = decided.wave_digest;
  status.nodes = static_cast<std::int32_t>(situation.nodes.size());
  status.updated = decided.updated;
  const bool has_window = decided.opening.end || decided.opening.begin > now;
  if (has_window) status.opens = At(decided.opening.begin);
  if (decided.opening.end) status.closes = At(*decided.opening.end);
  status.memory = decided.memory;
  return status;
}

}  // namespace pintle::pool
