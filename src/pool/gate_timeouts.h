// SPDX-License-Identifier: Apache-2.0
#pragma once

// Measures how long gates have blocked, and decides what follows when the timeout of a gate has passed.
//
// A timeout runs only while its gate blocks.  If the gate is met and blocks again later, the timeout begins anew. While
// nothing could be updated even if the gate were met, its timeout stands still.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "api/meta.h"
#include "base/clock.h"
#include "pool/gate.h"

namespace pintle::pool {

class GateTimeouts {
 public:
  enum class Outcome { kBlocks, kHalts, kContinues };

  // `blocked` has the time since which each gate blocks.  A key identifies a gate or, where a gate is tested for each
  // node, a gate and a node.  `waited` has the seconds that each timeout which stands still has run; it may be nullptr
  // if none ever stands still.  The maps must outlive this object.
  GateTimeouts(std::map<std::string, api::Time>& blocked, WallTime now,
               std::map<std::string, std::int64_t>* waited = nullptr)
      : blocked_since_(blocked), waited_(waited), now_(now) {}

  // Records that a gate blocks now, and returns since when it does.
  WallTime RecordAsBlocking(const std::string& key);
  // Returns what follows from a gate that blocks now.  If the gate has a timeout, also records it as blocking.
  Outcome Judge(const Gate& gate, const std::string& key);
  // Like Judge(), but the timeout stands still.  Needs `waited`.
  Outcome JudgeStill(const Gate& gate, const std::string& key);
  // Calls JudgeStill() for each key of the gate.  Returns whether one of the timeouts halts the rollout.
  bool StopAll(const Gate& gate);
  // Forgets the timeouts of a gate, or all of them.
  void Forget(const std::string& gate);
  void ForgetAll();
  // Forgets all gates that this object has not recorded as blocking.
  void ForgetUnblocked();

  // Returns when the next of the judged timeouts passes, or nullopt if none is left.
  std::optional<WallTime> next() const { return next_; }

 private:
  std::map<std::string, api::Time>& blocked_since_;
  std::map<std::string, std::int64_t>* waited_;
  const WallTime now_;
  std::set<std::string> blocking_now_;  // The keys of the gates that this object has recorded as blocking.
  std::optional<WallTime> next_;
};

}  // namespace pintle::pool
