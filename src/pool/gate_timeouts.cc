// SPDX-License-Identifier: Apache-2.0
#include "pool/gate_timeouts.h"

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace pintle::pool {
namespace {

using std::chrono::seconds;

// No timeout is longer.  A longer time in a memory that somebody has damaged could overflow.
constexpr auto kLongestWait = std::chrono::days(366);

seconds Bounded(std::int64_t waited) {
  return seconds(std::clamp<std::int64_t>(waited, 0, std::chrono::duration_cast<seconds>(kLongestWait).count()));
}

// Returns whether the key is that of the gate, or that of the gate and a node.
bool IsOf(const std::string& gate, const std::string& key) {
  return key == gate || (key.size() > gate.size() && key.starts_with(gate) && key[gate.size()] == '/');
}

GateTimeouts::Outcome OutcomeOf(const Gate& gate) {
  if (gate.on_timeout == GateTimeout::kHalt) return GateTimeouts::Outcome::kHalts;
  return gate.on_timeout == GateTimeout::kContinue ? GateTimeouts::Outcome::kContinues : GateTimeouts::Outcome::kBlocks;
}

}  // namespace

WallTime GateTimeouts::RecordAsBlocking(const std::string& key) {
  const api::Time now{std::chrono::floor<seconds>(now_)};
  const auto [entry, is_new] = blocked_since_.try_emplace(key, now);
  api::Time& since = entry->second;
  if (waited_ != nullptr) {
    const auto waited = waited_->find(key);
    if (is_new && waited != waited_->end()) since.at -= Bounded(waited->second);
    if (waited != waited_->end()) waited_->erase(waited);
  }
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
  return OutcomeOf(gate);
}

GateTimeouts::Outcome GateTimeouts::JudgeStill(const Gate& gate, const std::string& key) {
  if (!gate.timeout) return Outcome::kBlocks;
  const auto blocked = blocked_since_.find(key);
  if (blocked != blocked_since_.end()) {
    const auto ran = std::chrono::floor<seconds>(now_) - std::chrono::floor<seconds>(blocked->second.at);
    waited_->insert_or_assign(key, Bounded(ran.count()).count());
    blocked_since_.erase(blocked);
  }
  const auto waited = waited_->find(key);
  if (waited == waited_->end()) return Outcome::kBlocks;
  blocking_now_.insert(key);
  return Bounded(waited->second) < *gate.timeout ? Outcome::kBlocks : OutcomeOf(gate);
}

bool GateTimeouts::StopAll(const Gate& gate) {
  std::set<std::string> keys;
  const auto collect = [&](const auto& entry) {
    if (IsOf(gate.name, entry.first)) keys.insert(entry.first);
  };
  std::for_each(blocked_since_.begin(), blocked_since_.end(), collect);
  std::for_each(waited_->begin(), waited_->end(), collect);
  bool halts = false;
  for (const std::string& key : keys) halts = JudgeStill(gate, key) == Outcome::kHalts || halts;
  return halts;
}

void GateTimeouts::Forget(const std::string& gate) {
  const auto is_of_gate = [&](const auto& entry) { return IsOf(gate, entry.first); };
  std::erase_if(blocked_since_, is_of_gate);
  if (waited_ != nullptr) std::erase_if(*waited_, is_of_gate);
}

void GateTimeouts::ForgetAll() {
  blocked_since_.clear();
  if (waited_ != nullptr) waited_->clear();
}

void GateTimeouts::ForgetUnblocked() {
  const auto is_unblocked = [&](const auto& entry) { return !blocking_now_.contains(entry.first); };
  std::erase_if(blocked_since_, is_unblocked);
  if (waited_ != nullptr) std::erase_if(*waited_, is_unblocked);
}

}  // namespace pintle::pool
