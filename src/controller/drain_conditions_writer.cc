// SPDX-License-Identifier: Apache-2.0
#include "controller/drain_conditions_writer.h"

#include <fmt/core.h>

#include <optional>
#include <utility>

#include "base/log.h"

namespace pintle::controller {
namespace {

// With which others of the Machine Config Operator write theirs.
constexpr const char* kManager = "machine-config-operator";
// A node whose reports do not get through has old news enough.
constexpr std::size_t kMostWaiting = 16;

}  // namespace

DrainConditionsWriter::DrainConditionsWriter(kube::Client client, const Clock& clock)
    : client_(client.As(kManager)), clock_(clock) {}

void DrainConditionsWriter::Write(const std::string& node, DrainMoment moment) {
  Node& known = nodes_[node];
  if (known.waiting.size() >= kMostWaiting) known.waiting.erase(known.waiting.begin() + 1);
  known.waiting.push_back(std::move(moment));
  if (known.waiting.size() == 1) WriteFirst(node);
}

void DrainConditionsWriter::WhenWritten(const std::string& node, std::function<void()> then) {
  const auto known = nodes_.find(node);
  if (known == nodes_.end()) return then();
  known->second.then.push_back(std::move(then));
}

void DrainConditionsWriter::WriteFirst(const std::string& name) {
  Node& node = nodes_.at(name);
  const auto change = [moment = node.waiting.front(), now = api::Time{clock_.Wall()}](
                          const api::MachineConfigNode& known) -> std::optional<json::Value> {
    const auto conditions = NextConditions(known.status.conditions, moment, now);
    if (!conditions) return std::nullopt;
    return json::Value{{"status", {{"conditions", json::Encode(*conditions)}}}};
  };
  node.call = client_.Amend<api::MachineConfigNode>(
      {"", name}, change,
      [this, name](const Result<api::MachineConfigNode>& written) {
        if (!written) log::Debug(fmt::format("node {}: {}", name, written.error().message()));
        EndFirst(name);
      },
      kube::Part::kStatus);
}

void DrainConditionsWriter::EndFirst(const std::string& name) {
  Node& node = nodes_.at(name);
  node.waiting.pop_front();
  if (!node.waiting.empty()) return WriteFirst(name);
  const auto then = std::move(node.then);
  nodes_.erase(name);
  for (const auto& call : then) call();
}

}  // namespace pintle::controller
