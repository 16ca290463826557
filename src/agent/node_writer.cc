// SPDX-License-Identifier: Apache-2.0
#include "agent/node_writer.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace pintle::agent {

NodeWriter::NodeWriter(event::Loop& loop, const kube::Client& client, std::string node, Listener listener,
                       kube::Backoff::Settings backoff)
    : client_(client.Once([this](const kube::Failure& failure) { failure_ = failure; })),
      node_(std::move(node)),
      listener_(std::move(listener)),
      backoff_(backoff, kube::SystemRandom()),
      again_(
          loop, [this] { WriteNext(); }, kube::kRetrySlack) {}

void NodeWriter::Write(AnnotationChanges changes, std::function<void()> written) {
  AnnotationWrite& write = waiting_.emplace_back();
  write.changes = std::move(changes);
  if (written) write.written.push_back(std::move(written));
  if (waiting_.size() == 1) WriteNext();
}

void NodeWriter::WriteNext() {
  json::Value annotations = json::Value::object();
  for (const auto& [name, value] : waiting_.front().changes) {
    annotations[name] = value ? json::Value(*value) : json::Value();
  }
  call_ = client_.Patch<api::Node>({"", node_}, kube::MergePatch{{{"metadata", {{"annotations", annotations}}}}},
                                   [this](Result<api::Node> node) { OnAnswer(node); });
}

void NodeWriter::OnAnswer(const Result<api::Node>& node) {
  if (!node) {
    MergeWaiting();
    const auto failure = std::exchange(failure_, std::nullopt);
    const auto retry_after = failure ? failure->retry_after : std::nullopt;
    again_.After(std::max(backoff_.Next(), retry_after.value_or(std::chrono::milliseconds(0))));
    listener_.trouble(node.error());
    return;
  }
  backoff_.Reset();
  const AnnotationWrite done = std::move(waiting_.front());
  waiting_.pop_front();
  if (!waiting_.empty()) WriteNext();
  listener_.wrote(*node);
  for (const auto& written : done.written) written();
}

void NodeWriter::MergeWaiting() {
  AnnotationWrite all;
  for (AnnotationWrite& write : waiting_) {
    for (auto& [name, value] : write.changes) all.changes[name] = std::move(value);
    std::move(write.written.begin(), write.written.end(), std::back_inserter(all.written));
  }
  waiting_.clear();
  waiting_.push_back(std::move(all));
}

}  // namespace pintle::agent
