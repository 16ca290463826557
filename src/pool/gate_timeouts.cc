// SPDX-License-Identifier: Apache-2.0
#include "pool/gate_timeouts.h"

#include <algorithm>
#include <chrono>

namespace pintle::pool {

WallTime GateTimeouts::RecordAsBlocking(const std::string& key) {
  const api::Time now{std::chrono::floor<std::chrono::seconds>(now_)};
  api::Time& since = blocked_since_.try_emplace(key, now).first->second;
  // The time lies in the future if the clock was put back.
  since = std::min(since, now);
  blocking_now_.insert(key);
  return since.at;
}

GateTimeouts::Outcome GateTimeouts::Judge(const Gate& gate, const std::string& key) {
  if (!gate.timeout) return Outcome::kBlocks;
  const WallTime due = RecordAsBlocking(key) + *gate.timeout;
  if (due > now_) {
    next_ = std::min(next_.value_or(due), due);
    return Outcome::kBlocks;
  }
  if (gate.on_timeout == GateTimeout::kHalt) return Outcome::kHalts;
  return gate.on_timeout == GateTimeout::kContinue ? Outcome::kContinues : Outcome::kBlocks;
}

void GateTimeouts::ForgetUnblocked() {
  std::erase_if(blocked_since_, [&](const auto& blocked) { return !blocking_now_.contains(blocked.first); });
}

}  // namespace pintle::pool
