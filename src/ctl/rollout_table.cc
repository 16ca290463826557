// SPDX-License-Identifier: Apache-2.0
#include "ctl/rollout_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/printable.h"
#include "gotext/quote.h"
#include "pool/node_state.h"
#include "pool/target.h"

namespace pintle::ctl {
namespace {

using Row = std::array<std::string, 4>;

// Returns a text that cannot break the table: nodes and pools may report any characters.
std::string Cell(std::string_view text) {
  if (text.empty()) return "-";
  const bool is_plain = text.find('\t') == std::string_view::npos && Printable(text) == text;
  return is_plain ? std::string(text) : gotext::Quoted(text);
}

// A new pool has no target until something is rendered for it.
bool HasTarget(const api::MachineConfigPool& pool) { return !pool.spec.configuration.name.empty(); }

// The column NEXT of the table: what happens to each node next.
class NextColumn {
 public:
  NextColumn(const pool::Situation& situation, const pool::Rollout& rollout, const PolicyNotes& notes)
      : situation_(situation), rollout_(rollout), notes_(notes), target_(situation.pool, situation.layering) {
    for (std::size_t i = 0; i < rollout.updates.size(); ++i) turn_.emplace(rollout.updates[i].node, i + 1);
    for (const pool::NodeUpdate& update : rollout.updates_of_unavailable) turn_.emplace(update.node, 0);
  }

  std::string TextFor(const pool::NodeState& node) const {
    if (const auto turn = turn_.find(node.name()); turn != turn_.end()) return TextForNext(turn->second);
    if (target_.IsReachedBy(node)) {
      const auto why_not_ready = pool::WhyNotReady(node.node());
      return why_not_ready ? "updated, but " + *why_not_ready : "updated";
    }
    if (HasTarget(situation_.pool) && target_.IsAssignedTo(node)) return TextForAssigned(node);
    return "waits: " + WhyWaiting(node);
  }

 private:
  static std::string TextForNext(std::size_t turn) {
    if (turn == 0) return "updated next, because it is unavailable already";
    return fmt::format("updated next, as number {}", turn);
  }

  static std::string TextForAssigned(const pool::NodeState& node) {
    if (!node.is_degraded()) return "is being updated";
    return fmt::format("failed to update: {}", node.reason());
  }

  std::string WhyWaiting(const pool::NodeState& node) const {
    if (!rollout_.hold_reason.empty()) return rollout_.hold_reason;
    if (!rollout_.max_unavailable) return rollout_.max_unavailable_error;
    if (const auto why_not_ready = pool::WhyNotReady(node.node())) return *why_not_ready;
    const auto& members = notes_.members;
    if (!members.empty() && !std::binary_search(members.begin(), members.end(), node.name()))
      return "its wave is later";
    if (!notes_.why_held_back.empty()) return std::string(notes_.why_held_back);
    const bool is_master_pool = situation_.pool.metadata.name == api::kMasterPool;
    if (is_master_pool && node.name() == situation_.operator_node)
      return "the operator runs here, so this node comes last";
    return rollout_.candidates.capacity == 0 ? "as many nodes as allowed are unavailable already" : "others come first";
  }

  const pool::Situation& situation_;
  const pool::Rollout& rollout_;
  const PolicyNotes& notes_;
  pool::Target target_;
  // The turns of the nodes that are updated next, from 1; 0 for a node that is unavailable already.
  std::unordered_map<std::string_view, std::size_t> turn_;
};

std::string Aligned(const std::vector<Row>& rows) {
  std::array<std::size_t, 4> width{};
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) width[i] = std::max(width[i], row[i].size());
  }
  std::string text;
  for (const Row& row : rows) {
    text += fmt::format("{:<{}}  {:<{}}  {:<{}}  {}\n", row[0], width[0], row[1], width[1], row[2], width[2], row[3]);
  }
  return text;
}

std::string NodesTable(const pool::Situation& situation, const pool::Rollout& rollout, const PolicyNotes& notes) {
  const NextColumn next(situation, rollout, notes);
  std::vector<Row> rows = {{"NODE", "ZONE", "CONFIG", "NEXT"}};
  for (const pool::NodeState& node : situation.nodes) {
    rows.push_back(
        {Cell(node.name()), Cell(node.zone().value_or("")), Cell(node.current_config()), Cell(next.TextFor(node))});
  }
  return Aligned(rows);
}

std::string ConditionsTable(const api::MachineConfigPoolStatus& status) {
  std::vector<Row> rows = {{"CONDITION", "STATUS", "REASON", "MESSAGE"}};
  for (const api::Condition& condition : status.conditions) {
    rows.push_back({Cell(condition.type), Cell(condition.status), Cell(condition.reason), Cell(condition.message)});
  }
  return Aligned(rows);
}

std::string NextLine(const pool::Rollout& rollout) {
  if (!rollout.hold_reason.empty()) return fmt::format("Next: nothing: {}\n", Printable(rollout.hold_reason));
  if (!rollout.max_unavailable) return fmt::format("Next: nothing: {}\n", Printable(rollout.max_unavailable_error));
  const std::size_t count = rollout.updates.size() + rollout.updates_of_unavailable.size();
  const std::string limit =
      fmt::format("{} may be unavailable at once, {} are", *rollout.max_unavailable, rollout.unavailable.size());
  if (count == 0) return fmt::format("Next: nothing ({})\n", limit);
  return fmt::format("Next: {} {} updated ({})\n", count, count == 1 ? "node is" : "nodes are", limit);
}

}  // namespace

std::string RolloutTable(const pool::Situation& situation, const pool::Rollout& rollout, const PolicyNotes& notes) {
  const api::MachineConfigPoolStatus& status = rollout.status;
  const std::string target =
      HasTarget(situation.pool) ? pool::TargetLine(situation.pool, situation.layering) : "no config yet";
  std::string text = fmt::format("Pool {}: {}\n", Printable(situation.pool.metadata.name), Printable(target));
  text += fmt::format("Nodes: {}, {} updated, {} ready, {} unavailable, {} degraded\n", status.machine_count,
                      status.updated_machine_count, status.ready_machine_count, status.unavailable_machine_count,
                      status.degraded_machine_count);
  if (!notes.progress.empty()) text += "The " + notes.progress;
  return text + NextLine(rollout) + "\n" + NodesTable(situation, rollout, notes) + "\n" + ConditionsTable(status);
}

}  // namespace pintle::ctl
