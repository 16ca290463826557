// SPDX-License-Identifier: Apache-2.0
#include "agent/node_conditions_writer.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <utility>

#include "agent/events.h"
#include "base/log.h"
#include "json/fields.h"

namespace pintle::agent {
namespace {

// At most this many moments wait.
constexpr std::size_t kMostWaiting = 32;
// If a cluster has no MachineConfigNodes, nothing is written for this time.
constexpr auto kSuspension = std::chrono::minutes(10);
// A write is dropped after it has met more conflicts than this.
constexpr int kMostConflicts = 8;

// The patch replaces all conditions.  It names the version that was read, so that a condition that the drain controller
// has written since is not lost.
kube::ApplyPatch Apply(const api::MachineConfigNode& known, const char* part, json::Value value) {
  json::Value object = json::Value::object();
  const std::string& version = known.metadata.resource_version;
  if (!version.empty()) object["metadata"]["resourceVersion"] = version;
  object[part] = std::move(value);
  return {.object = std::move(object), .conflicts = kube::ApplyPatch::Conflicts::kTakeOver};
}

}  // namespace

NodeConditionsWriter::NodeConditionsWriter(event::Loop& loop, kube::Client client, const Clock& clock,
                                           Listener listener, kube::Backoff::Settings backoff)
    : client_(client.Once([this](const kube::Failure& failure) { failure_ = failure; })),
      clock_(clock),
      listener_(std::move(listener)),
      backoff_(backoff, kube::SystemRandom()),
      again_(
          loop,
          [this] {
            if (is_writing_) Read();
          },
          kube::kRetrySlack) {}

void NodeConditionsWriter::Write(ProgressReport progress, NodeFacts node) {
  if (last_ && last_->progress == progress && last_->node == node) return WriteNext();
  if (waiting_.size() >= kMostWaiting) DropOneFor(progress.parent.type);
  last_ = MomentWrite{std::move(progress), std::move(node), {clock_.Wall()}};
  waiting_.push_back(*last_);
  WriteNext();
}

// Drops the oldest waiting write of this type, or else the oldest of all.
void NodeConditionsWriter::DropOneFor(const std::string& type) {
  const auto first = waiting_.begin() + (is_writing_ ? 1 : 0);
  const auto outdated =
      std::find_if(first, waiting_.end(), [&](const MomentWrite& write) { return write.progress.parent.type == type; });
  waiting_.erase(outdated == waiting_.end() ? first : outdated);
}

void NodeConditionsWriter::WriteNext() {
  if (is_writing_ || waiting_.empty()) return;
  if (suspended_until_ && clock_.Monotonic() < *suspended_until_) return;
  suspended_until_.reset();
  is_writing_ = true;
  conflicts_ = 0;
  if (!again_.armed()) Read();
}

void NodeConditionsWriter::Read() {
  call_ = client_.Get<api::MachineConfigNode>(
      {"", waiting_.front().node.name}, [this](Result<api::MachineConfigNode> known) { OnRead(std::move(known)); });
}

void NodeConditionsWriter::OnRead(Result<api::MachineConfigNode> known) {
  if (known) return WriteStatus(*known);
  if (known.error().kind() == ErrorKind::kNotFound && !IsWithoutKind(known.error())) return Create();
  OnFailed(known.error());
}

void NodeConditionsWriter::Create() {
  // A new object has no status yet.
  call_ = client_.Create<api::MachineConfigNode>(NewMachineConfigNode(waiting_.front().node),
                                                 [this](const Result<api::MachineConfigNode>& created) {
                                                   if (!created) return OnFailed(created.error());
                                                   WriteStatus(*created);
                                                 });
}

void NodeConditionsWriter::WriteStatus(const api::MachineConfigNode& known) {
  const MomentWrite& write = waiting_.front();
  const auto next = NextStatus(known, write.progress, write.node, write.at);
  if (!next) return WriteSpec(known);
  call_ = client_.Patch<api::MachineConfigNode>(
      {"", write.node.name}, Apply(known, "status", json::Encode(*next)),
      [this](const Result<api::MachineConfigNode>& written) {
        if (!written) return OnFailed(written.error());
        WriteSpec(*written);
      },
      kube::Part::kStatus);
}

void NodeConditionsWriter::WriteSpec(const api::MachineConfigNode& known) {
  const MomentWrite& write = waiting_.front();
  const auto next = write.progress.writes_spec ? NextSpec(known, write.node) : std::nullopt;
  if (!next) return FinishOldest();
  call_ = client_.Patch<api::MachineConfigNode>({"", write.node.name}, Apply(known, "spec", json::Encode(*next)),
                                                [this](const Result<api::MachineConfigNode>& written) {
                                                  if (!written) return OnFailed(written.error());
                                                  FinishOldest();
                                                });
}

void NodeConditionsWriter::OnFailed(const Error& error) {
  if (error.kind() == ErrorKind::kNotFound && IsWithoutKind(error)) return Suspend(error);
  log::Debug(error.message());
  const bool is_away = error.kind() == ErrorKind::kUnavailable;
  // The object may have been changed or removed since it was read.
  const bool is_conflict = error.kind() == ErrorKind::kConflict || error.kind() == ErrorKind::kNotFound;
  if (is_away || (is_conflict && ++conflicts_ <= kMostConflicts)) return WaitAfterFailure();
  log::Warning(error.message(), kTrouble);
  DropOldest();
}

void NodeConditionsWriter::DropOldest() {
  // The same moment may be written again later, and be accepted then.
  last_.reset();
  WaitAfterFailure();
  waiting_.pop_front();
  conflicts_ = 0;
  is_writing_ = !waiting_.empty();
  if (is_idle()) listener_.idle();
}

void NodeConditionsWriter::WaitAfterFailure() {
  const auto failure = std::exchange(failure_, std::nullopt);
  const auto retry_after = failure ? failure->retry_after : std::nullopt;
  again_.After(std::max(backoff_.Next(), retry_after.value_or(std::chrono::milliseconds(0))));
}

void NodeConditionsWriter::FinishOldest() {
  backoff_.Reset();
  waiting_.pop_front();
  is_writing_ = false;
  WriteNext();
  if (is_idle()) listener_.idle();
}

void NodeConditionsWriter::Suspend(const Error& error) {
  log::Debug(fmt::format("there are no MachineConfigNodes here: {}", error.message()));
  suspended_until_ = clock_.Monotonic() + kSuspension;
  is_writing_ = false;
  listener_.idle();
}

// The API server names a missing object in its error, but not if it does not know the kind at all.
bool NodeConditionsWriter::IsWithoutKind(const Error& error) const {
  return error.message().find(fmt::format("\"{}\" not found", waiting_.front().node.name)) == std::string::npos;
}

}  // namespace pintle::agent
