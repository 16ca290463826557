// SPDX-License-Identifier: Apache-2.0
#include "kube/event_recorder.h"

#include <fmt/core.h>

#include <utility>

#include "base/printable.h"

namespace pintle::kube {
namespace {

constexpr std::size_t kMostWaiting = 100;
// How many are remembered for the case that they happen again.
constexpr std::size_t kMostPosted = 500;
// What the API server takes.
constexpr std::size_t kMessageLimit = 1024;
// For "... (12345 more characters)".
constexpr std::size_t kRoomForCount = 64;

}  // namespace

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
  event.metadata.name = fmt::format("{}.{:x}", about.name, now.time_since_epoch().count());
  event.involved_object = about;
  event.type = kind == EventKind::kNormal ? "Normal" : "Warning";
  event.reason = reason;
  event.message = Shortened(PrintableLines(message), kMessageLimit - kRoomForCount);
  event.source = source_;
  event.first_timestamp = event.last_timestamp = api::Time{now};
  event.count = 1;
  waiting_.push_back(std::move(event));
  if (waiting_.size() == 1) PostNext();
}

void EventRecorder::PostNext() {
  if (waiting_.empty()) return;
  const auto first = posted_.find(KeyOf(waiting_.front()));
  first == posted_.end() ? Create() : Repeat(first->second);
}

void EventRecorder::Create() {
  const api::Event& event = waiting_.front();
  call_ = client_.Create<api::Event>(event, [this, name = event.metadata.name](const Result<api::Event>& made) {
    Done(made.has_value(), {name, 1});
  });
}

void EventRecorder::Repeat(const Posted& first) {
  const api::Event& event = waiting_.front();
  const Posted next = {first.name, first.count + 1};
  const MergePatch patch = {{{"count", next.count}, {"lastTimestamp", json::Encode(event.last_timestamp)}}};
  call_ = client_.Patch<api::Event>(
      {event.metadata.namespace_name, next.name}, patch, [this, next](const Result<api::Event>& patched) {
        // The API server forgets events after an hour.
        const bool is_forgotten = !patched && patched.error().kind() == ErrorKind::kNotFound;
        if (is_forgotten) return Create();
        Done(patched.has_value(), next);
      });
}

void EventRecorder::Done(bool is_posted, const Posted& posted) {
  Key key = KeyOf(waiting_.front());
  waiting_.pop_front();
  if (is_posted && posted_.insert_or_assign(key, posted).second) oldest_.push_back(std::move(key));
  if (oldest_.size() > kMostPosted) {
    posted_.erase(oldest_.front());
    oldest_.pop_front();
  }
  PostNext();
}

}  // namespace pintle::kube
