// SPDX-License-Identifier: Apache-2.0
#include "pool/blocked_nodes.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/base64.h"

namespace pintle::pool {
namespace {

constexpr std::size_t kNumberBytes = 4;
// A group has a time, the count of its nodes, and then a hash for each of them.
constexpr std::size_t kGroupBytes = 2 * kNumberBytes;

using Hash = std::uint32_t;
// Either a time, in seconds since 1970, which is enough until 2106, or the seconds for which a timeout has run.
using Seconds = std::uint32_t;

// Computes the 32-bit FNV-1a hash.  The status keeps it, so it must not differ between versions.
Hash HashOf(std::string_view name) {
  Hash hash = 0x811C9DC5U;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x01000193U;
  return hash;
}

Seconds SecondsOf(std::int64_t seconds) {
  return static_cast<Seconds>(std::clamp<std::int64_t>(seconds, 0, std::numeric_limits<Seconds>::max()));
}
Seconds SecondsOf(const api::Time& time) {
  return SecondsOf(std::chrono::floor<std::chrono::seconds>(time.at).time_since_epoch().count());
}

void SetSeconds(Seconds seconds, std::int64_t& value) { value = seconds; }
void SetSeconds(Seconds seconds, api::Time& value) { value = {WallTime(std::chrono::seconds(seconds))}; }

// Two nodes may have the same hash.  Returns the value of the node whose timeout has run for a shorter time.
Seconds OfShorterRun(Seconds a, Seconds b, const std::int64_t&) { return std::min(a, b); }
Seconds OfShorterRun(Seconds a, Seconds b, const api::Time&) { return std::max(a, b); }

void AddNumber(std::string& bytes, std::uint32_t number) {
  for (const int shift : {24, 16, 8, 0}) bytes += static_cast<char>(number >> shift & 0xFFU);
}

// Takes a number from the beginning of the bytes.  Returns nullopt if they have ended.
std::optional<std::uint32_t> TakeNumber(std::string_view& bytes) {
  if (bytes.size() < kNumberBytes) return std::nullopt;
  std::uint32_t number = 0;
  for (const char c : bytes.substr(0, kNumberBytes)) number = number << 8 | static_cast<unsigned char>(c);
  bytes.remove_prefix(kNumberBytes);
  return number;
}

// Returns the seconds of each hash.  If somebody has damaged the text, some are missing.
template <typename Value>
std::unordered_map<Hash, Seconds> SecondsIn(const std::string& text) {
  std::unordered_map<Hash, Seconds> times;
  const std::string decoded = DecodeBase64(text).value_or("");
  std::string_view bytes = decoded;
  while (const auto time = TakeNumber(bytes)) {
    std::uint32_t count = TakeNumber(bytes).value_or(0);
    for (; count > 0; --count) {
      const auto hash = TakeNumber(bytes);
      if (!hash) break;
      Seconds& known = times.try_emplace(*hash, *time).first->second;
      known = OfShorterRun(known, *time, Value());
    }
  }
  return times;
}

// The nodes of a gate for whose names there is no room, by their times.
struct UnnamedNodes {
  std::size_t count = 0;
  std::map<Seconds, std::vector<Hash>> groups;
};

// Returns the text of the groups, or of as many nodes as there is room for.  The earliest times come first.  `room` is
// the number of bytes that are left, and becomes smaller.
std::string PackedTimes(const UnnamedNodes& nodes, std::size_t& room) {
  std::string bytes;
  for (const auto& [time, hashes] : nodes.groups) {
    if (room < kGroupBytes + kNumberBytes) break;
    room -= kGroupBytes;
    const std::size_t count = std::min(hashes.size(), room / kNumberBytes);
    room -= count * kNumberBytes;
    AddNumber(bytes, time);
    AddNumber(bytes, static_cast<std::uint32_t>(count));
    for (std::size_t i = 0; i < count; ++i) AddNumber(bytes, hashes[i]);
  }
  return EncodeBase64(bytes);
}

template <typename Value>
void Expand(std::map<std::string, Value>& entries, std::vector<api::RolloutBlockedNodes>& others,
            std::span<const NodeState> nodes) {
  for (const api::RolloutBlockedNodes& more : std::exchange(others, {})) {
    const auto times = SecondsIn<Value>(more.times);
    for (const NodeState& node : nodes) {
      const auto found = times.find(HashOf(node.name()));
      if (found == times.end()) continue;
      const auto [entry, is_new] = entries.try_emplace(more.gate + "/" + node.name());
      if (is_new) SetSeconds(found->second, entry->second);
    }
  }
}

// Removes the entries that exceed kMostNamedNodesOfGate, and returns them by their gates.
template <typename Value>
std::map<std::string, UnnamedNodes> TakeUnnamed(std::map<std::string, Value>& entries) {
  std::map<std::string, UnnamedNodes> unnamed;
  if (entries.size() <= kMostNamedNodesOfGate) return unnamed;
  std::map<std::string, std::size_t> named;
  std::erase_if(entries, [&](const auto& blocked) {
    const std::string& key = blocked.first;
    const std::size_t slash = key.rfind('/');
    if (slash == std::string::npos) return false;  // The gate blocks the rollout as a whole.
    const std::string gate = key.substr(0, slash);
    if (++named[gate] <= kMostNamedNodesOfGate) return false;
    UnnamedNodes& nodes = unnamed[gate];
    ++nodes.count;
    nodes.groups[SecondsOf(blocked.second)].push_back(HashOf(std::string_view(key).substr(slash + 1)));
    return true;
  });
  return unnamed;
}

std::vector<api::RolloutBlockedNodes> Packed(const std::map<std::string, UnnamedNodes>& unnamed, std::size_t& room) {
  std::vector<api::RolloutBlockedNodes> packed;
  for (const auto& [gate, nodes] : unnamed) {
    packed.push_back(
        {.gate = gate, .nodes = static_cast<std::int32_t>(nodes.count), .times = PackedTimes(nodes, room)});
  }
  return packed;
}

}  // namespace

void ExpandBlocked(api::RolloutMemory& memory, std::span<const NodeState> nodes) {
  Expand(memory.blocked, memory.blocked_more, nodes);
  Expand(memory.waited, memory.waited_more, nodes);
}

void CompactBlocked(api::RolloutMemory& memory) {
  const auto blocked = TakeUnnamed(memory.blocked);
  const auto waited = TakeUnnamed(memory.waited);
  // Base64 has 4 characters for 3 bytes, and pads the end of each text.
  std::size_t room = kLongestBlockedMore / 4 * 3 - 2 * (blocked.size() + waited.size());
  memory.blocked_more = Packed(blocked, room);
  memory.waited_more = Packed(waited, room);
}

}  // namespace pintle::pool
