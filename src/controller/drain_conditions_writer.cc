// SPDX-License-Identifier: Apache-2.0
#include "controller/drain_conditions_writer.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "controller/complaints.h"
#include "controller/events.h"
#include "json/fields.h"

namespace pintle::controller {
namespace {

// The field manager with which parts of the Machine Config Operator write these conditions.
constexpr const char* kManager = "machine-config-operator";
// If more moments of a node than this wait, the second oldest moment is dropped, since it is out of date by then.
constexpr std::size_t kMostWaiting = 16;

}  // namespace

DrainConditionsWriter::DrainConditionsWriter(const kube::Client& client, const Clock& clock,
                                             kube::Backoff::Settings backoff)
    : client_(client.As(kManager)), clock_(clock), times_(backoff) {}

DrainConditionsWriter::Node& DrainConditionsWriter::NodeNamed(const std::string& name) {
  return nodes_.try_emplace(name, client_.transport()->loop(), times_, [this, name] { WriteOldest(name); })
      .first->second;
}

void DrainConditionsWriter::Write(const std::string& node, DrainMoment moment) {
  Node& known = NodeNamed(node);
  if (known.waiting.size() >= kMostWaiting) known.waiting.erase(known.waiting.begin() + 1);
  known.waiting.push_back(std::move(moment));
  if (known.waiting.size() == 1 && !known.again.armed()) WriteOldest(node);
}

void DrainConditionsWriter::WhenWritten(const std::string& node, std::function<void()> then) {
  const auto known = nodes_.find(node);
  if (known == nodes_.end() || known->second.failures > 0) return then();
  known->second.then.push_back(std::move(then));
}

void DrainConditionsWriter::WriteOldest(const std::string& name) {
  Node& node = nodes_.at(name);
  if (node.waiting.empty()) return;
  const auto change = [moment = node.waiting.front(), now = api::Time{clock_.Wall()}](
                          const api::MachineConfigNode& known) -> std::optional<json::Value> {
    const auto conditions = NextConditions(known.status.conditions, moment, now);
    if (!conditions) return std::nullopt;
    return json::Value{{"status", {{"conditions", json::Encode(*conditions)}}}};
  };
  kube::Client client = client_.Once([&node](const kube::Failure& failure) { node.failure = failure; });
  node.call = client.Amend<api::MachineConfigNode>(
      {"", name}, change,
      [this, name](const Result<api::MachineConfigNode>& written) {
        written ? FinishOldest(name) : Failed(name, written.error());
      },
      kube::Part::kStatus);
}

void DrainConditionsWriter::Failed(const std::string& name, const Error& error) {
  Node& node = nodes_.at(name);
  ++node.failures;
  // Not every cluster has MachineConfigNodes, so a missing one is not logged.
  const bool is_missing = error.kind() == ErrorKind::kNotFound;
  const bool is_refused = error.kind() == ErrorKind::kInvalid;
  const bool is_to_be_logged = !is_missing && (is_refused || node.failures > kFailuresBeforeReport);
  if (is_to_be_logged && std::exchange(node.logged_error, error.message()) != error.message()) {
    log::Warning(fmt::format("node {}: cannot write the progress of its drain to its MachineConfigNode: {}", name,
                             error.message()),
                 kTrouble, {{"PINTLE_NODE", name}});
  }
  if (is_missing || is_refused) node.waiting.pop_front();
  const auto failure = std::exchange(node.failure, std::nullopt);
  node.again.After(std::max(node.backoff.Next(), kube::RetryAfterOf(failure)));
  // The callers must not wait for a write that happens later or never.
  for (const auto& call : std::exchange(node.then, {})) call();
}

void DrainConditionsWriter::FinishOldest(const std::string& name) {
  Node& node = nodes_.at(name);
  node.failures = 0;
  node.backoff.Reset();
  node.waiting.pop_front();
  if (!node.waiting.empty()) return WriteOldest(name);
  const auto then = std::move(node.then);
  nodes_.erase(name);
  for (const auto& call : then) call();
}

}  // namespace pintle::controller
