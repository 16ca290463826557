// SPDX-License-Identifier: Apache-2.0
#include "kube/event_recorder.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/printable.h"
#include "event/loop.h"
#include "json/fields.h"

namespace pintle::kube {
namespace {

constexpr std::size_t kMostWaiting = 100;
// The latest events are remembered, so that an event that is repeated only gets a higher count.
constexpr std::size_t kMostPosted = 500;
// The API server's limit for the length of a message.
constexpr std::size_t kEventMessageLimit = 1024;
// Leaves room for the end of a message that is cut: "... (12345 more characters)".
constexpr std::size_t kRoomForCount = 64;
// An event is dropped after this many tries while the server is down.
constexpr int kMostTries = 6;

}  // namespace

EventRecorder::EventRecorder(const Client& client, api::EventSource source, const Clock& clock, Settings settings)
    : client_(client.Once([this](const Failure& failure) { failure_ = failure; })),
      source_(std::move(source)),
      clock_(clock),
      settings_(std::move(settings)),
      backoff_(settings_.backoff, SystemRandom()),
      again_(
          client.transport()->loop(), [this] { PostNext(); }, kRetrySlack) {}

EventRecorder::Key EventRecorder::KeyOf(const api::Event& event) {
  const api::ObjectReference& about = event.involved_object;
  return {about.kind, about.namespace_name, about.name, about.uid, event.type, event.reason, event.message};
}

void EventRecorder::Post(const api::ObjectReference& about, EventKind kind, const std::string& reason,
                         const std::string& message) {
  if (waiting_.size() == kMostWaiting) return;
  const WallTime now = clock_.Wall();
  api::Event event;
  event.metadata.namespace_name = about.namespace_name.empty() ? "default" : about.namespace_name;
  latest_ = std::max(now.time_since_epoch(), latest_ + WallTime::duration(1));
  event.metadata.name = fmt::format("{}.{:x}", about.name, latest_.count());
  event.involved_object = about;
  event.type = kind == EventKind::kNormal ? "Normal" : "Warning";
  event.reason = reason;
  event.message = Shortened(PrintableLines(message), kEventMessageLimit - kRoomForCount);
  event.source = source_;
  event.first_timestamp = event.last_timestamp = api::Time{now};
  event.count = 1;
  waiting_.push_back(std::move(event));
  if (waiting_.size() == 1 && !again_.armed()) PostNext();
}

void EventRecorder::PostNext() {
  if (waiting_.empty()) return;
  const auto first = posted_.find(KeyOf(waiting_.front()));
  first == posted_.end() ? Create() : Repeat(first->second);
}

void EventRecorder::Create() {
  const api::Event& event = waiting_.front();
  call_ = client_.Create<api::Event>(event, [this, name = event.metadata.name](const Result<api::Event>& made) {
    // If the answer to an earlier try was lost, the API server may have the event already.  Its name is ours alone.
    const bool is_known = !made && failures_ > 0 && made.error().kind() == ErrorKind::kConflict;
    made || is_known ? Succeeded({name, 1}) : Failed(made.error());
  });
}

void EventRecorder::Repeat(const Posted& first) {
  const api::Event& event = waiting_.front();
  const Posted next = {first.name, first.count + 1};
  const MergePatch patch = {{{"count", next.count}, {"lastTimestamp", json::Encode(event.last_timestamp)}}};
  call_ = client_.Patch<api::Event>(
      {event.metadata.namespace_name, next.name}, patch, [this, next](const Result<api::Event>& patched) {
        // The API server deletes events after an hour.
        const bool is_deleted = !patched && patched.error().kind() == ErrorKind::kNotFound;
        if (is_deleted) return Create();
        patched ? Succeeded(next) : Failed(patched.error());
      });
}

void EventRecorder::Failed(const Error& error) {
  const bool may_succeed_later = error.kind() == ErrorKind::kUnavailable && ++failures_ < kMostTries;
  if (!may_succeed_later) {
    failures_ = 0;
    waiting_.pop_front();
  }
  const auto retry_after_wait = failure_ ? failure_->retry_after : std::nullopt;
  failure_.reset();
  again_.After(std::max(backoff_.Next(), retry_after_wait.value_or(std::chrono::milliseconds(0))));
  settings_.trouble(error);
}

void EventRecorder::Succeeded(const Posted& posted) {
  backoff_.Reset();
  failures_ = 0;
  Key key = KeyOf(waiting_.front());
  waiting_.pop_front();
  if (posted_.insert_or_assign(key, posted).second) oldest_.push_back(std::move(key));
  if (oldest_.size() > kMostPosted) {
    posted_.erase(oldest_.front());
    oldest_.pop_front();
  }
  PostNext();
}

}  // namespace pintle::kube
