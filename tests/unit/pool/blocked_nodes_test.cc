// SPDX-License-Identifier: Apache-2.0
#include "pool/blocked_nodes.h"

#include <chrono>
#include <string>
#include <vector>

#include "json/fields.h"
#include "json/parse.h"
#include "support/expect.h"
#include "unit/pool/sample.h"

namespace pintle::pool {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

const WallTime kBlockedAt = *FromRfc3339("2027-01-02T08:00:00Z");

std::vector<api::Node> Nodes(int count) {
  std::vector<api::Node> nodes;
  for (int i = 0; i < count; ++i) nodes.push_back(NodeAt("ip-10-0-0-" + std::to_string(i) + ".a.example", kOld));
  return nodes;
}

// Returns a memory in which each gate blocks each node, and each node since a time of its own.
api::RolloutMemory MemoryOf(const std::vector<std::string>& gates, const std::vector<api::Node>& nodes) {
  api::RolloutMemory memory;
  for (const std::string& gate : gates) {
    std::chrono::seconds after{0};
    for (const api::Node& node : nodes) {
      memory.blocked.emplace(gate + "/" + node.metadata.name, api::Time{kBlockedAt + ++after});
    }
  }
  return memory;
}

TEST(BlockedNodes, StayNamedWhileTheyAreFew) {
  const std::vector<api::Node> nodes = Nodes(static_cast<int>(kMostNamedNodesOfGate));
  api::RolloutMemory memory = MemoryOf({"a", "b"}, nodes);
  memory.blocked.emplace("whole", api::Time{kBlockedAt});
  const auto before = memory.blocked;
  CompactBlocked(memory);
  EXPECT_EQ(memory.blocked, before);
  EXPECT_THAT(memory.blocked_more, IsEmpty());
}

TEST(BlockedNodes, KeepTheirTimesInASmallStatus) {
  const std::vector<api::Node> nodes = Nodes(5000);
  const std::vector<NodeState> states = States(nodes);
  api::RolloutMemory memory = MemoryOf({"a", "b", "c", "d"}, nodes);
  const auto before = memory.blocked;
  CompactBlocked(memory);
  EXPECT_THAT(memory.blocked, SizeIs(4 * kMostNamedNodesOfGate));
  ASSERT_THAT(memory.blocked_more, SizeIs(4));
  EXPECT_EQ(memory.blocked_more[0].gate, "a");
  EXPECT_EQ(memory.blocked_more[0].nodes, 5000 - static_cast<int>(kMostNamedNodesOfGate));
  EXPECT_LT(json::ToText(json::Encode(memory)).size(), 600U << 10);

  // Through JSON, as the API server keeps it.
  json::Report report;
  memory = json::Decode<api::RolloutMemory>(json::Encode(memory), report);
  const api::RolloutMemory compact = memory;
  ExpandBlocked(memory, states);
  EXPECT_THAT(memory.blocked_more, IsEmpty());
  ASSERT_EQ(memory.blocked.size(), before.size());
  std::size_t others = 0;
  for (const auto& [key, time] : before) others += memory.blocked.at(key) == time ? 0 : 1;
  EXPECT_LE(others, 20U) << "more nodes than can have the hash of another one";
  CompactBlocked(memory);
  EXPECT_TRUE(json::Equal(memory, compact)) << "a memory that changes in each look holds back all updates";
}

TEST(BlockedNodes, WhoseTimeoutsStandStillAreKeptInTheSameWay) {
  const std::vector<api::Node> nodes = Nodes(5000);
  const std::vector<NodeState> states = States(nodes);
  api::RolloutMemory memory = MemoryOf({"a"}, nodes);
  std::int64_t seconds = 0;
  for (const api::Node& node : nodes) memory.waited.emplace("b/" + node.metadata.name, ++seconds);
  const auto before = memory.waited;
  CompactBlocked(memory);
  EXPECT_THAT(memory.waited, SizeIs(kMostNamedNodesOfGate));
  ASSERT_THAT(memory.waited_more, SizeIs(1));
  EXPECT_LE(memory.blocked_more.at(0).times.size() + memory.waited_more[0].times.size(), kLongestBlockedMore);
  json::Report report;
  memory = json::Decode<api::RolloutMemory>(json::Encode(memory), report);
  ExpandBlocked(memory, states);
  EXPECT_THAT(memory.waited_more, IsEmpty());
  ASSERT_EQ(memory.waited.size(), before.size());
  std::size_t others = 0;
  for (const auto& [key, waited] : before) {
    EXPECT_LE(memory.waited.at(key), waited) << "a timeout must not end early";
    others += memory.waited.at(key) == waited ? 0 : 1;
  }
  EXPECT_LE(others, 20U) << "more nodes than can have the hash of another one";
}

// When many nodes are blocked since the same look, their times take little room.
TEST(BlockedNodes, ShareATime) {
  const std::vector<api::Node> nodes = Nodes(5000);
  api::RolloutMemory memory;
  for (const api::Node& node : nodes) memory.blocked.emplace("g/" + node.metadata.name, api::Time{kBlockedAt});
  CompactBlocked(memory);
  ASSERT_THAT(memory.blocked_more, SizeIs(1));
  EXPECT_LT(memory.blocked_more[0].times.size(), 30'000U);
}

TEST(BlockedNodes, OfTooManyGatesAreLeftOut) {
  const std::vector<api::Node> nodes = Nodes(10'000);
  const std::vector<NodeState> states = States(nodes);
  api::RolloutMemory memory = MemoryOf({"a", "b", "c", "d", "e", "f"}, nodes);
  CompactBlocked(memory);
  std::size_t length = 0;
  for (const api::RolloutBlockedNodes& more : memory.blocked_more) length += more.times.size();
  EXPECT_LE(length, kLongestBlockedMore);
  // The status also counts the nodes whose times it does not have.
  ASSERT_THAT(memory.blocked_more, SizeIs(6));
  EXPECT_EQ(memory.blocked_more[5].nodes, 10'000 - static_cast<int>(kMostNamedNodesOfGate));
  ExpandBlocked(memory, states);
  EXPECT_FALSE(memory.blocked.contains("f/" + nodes[9999].metadata.name));
}

TEST(BlockedNodes, ThatHaveLeftAreForgotten) {
  const std::vector<api::Node> nodes = Nodes(60);
  api::RolloutMemory memory = MemoryOf({"g"}, nodes);
  CompactBlocked(memory);
  const std::vector<NodeState> none;
  ExpandBlocked(memory, none);
  EXPECT_THAT(memory.blocked, SizeIs(kMostNamedNodesOfGate));
}

TEST(BlockedNodes, OfADamagedTextAreForgotten) {
  const std::vector<api::Node> nodes = Nodes(60);
  const std::vector<NodeState> states = States(nodes);
  for (const char* const text : {"", "?", "AAAA", "AAAAAP////8=", "AAAAAAAAAAA="}) {
    api::RolloutMemory memory;
    memory.blocked_more = {{.gate = "g", .nodes = 10, .times = text}};
    ExpandBlocked(memory, states);
    EXPECT_THAT(memory.blocked, IsEmpty()) << text;
  }
}

}  // namespace
}  // namespace pintle::pool
