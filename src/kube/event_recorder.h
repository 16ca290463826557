// SPDX-License-Identifier: Apache-2.0
#pragma once

// Tells people what happens to an object, where `kubectl describe` shows it.
//
// What happens again is counted in the Event of the first time, so that nobody finds the same a hundred times.  Events
// are not worth much: one that is refused is lost, and so is one that the server is away for for long, and so are the
// newest when too many wait.  After a failure all wait, longer each time.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "api/event.h"
#include "base/clock.h"
#include "event/watches.h"
#include "kube/backoff.h"
#include "kube/client.h"

namespace pintle::kube {

enum class EventKind { kNormal, kWarning };

class EventRecorder {
 public:
  // With all of the jitter, the longest is five minutes.  A program may have two recorders.
  static constexpr Backoff::Settings kTimes = {
      .first = std::chrono::seconds(2), .longest = std::chrono::minutes(4), .jitter = 0.25};

  struct Settings {
    std::function<void(const Error& error)> trouble = [](const Error&) {};  // Why one is not posted.
    Backoff::Settings backoff = kTimes;
  };

  // The clock must outlive it.
  EventRecorder(const Client& client, api::EventSource source, const Clock& clock, Settings settings);
  EventRecorder(const EventRecorder&) = delete;
  EventRecorder& operator=(const EventRecorder&) = delete;

  // An object without a namespace has its events in "default".
  void Post(const api::ObjectReference& about, EventKind kind, const std::string& reason, const std::string& message);

 private:
  // What makes two events the same.
  using Key = std::tuple<std::string, std::string, std::string, std::string, std::string, std::string, std::string>;
  struct Posted {
    std::string name;
    std::int32_t count;
  };

  static Key KeyOf(const api::Event& event);
  void PostNext();
  void Create();
  void Repeat(const Posted& first);
  void Keep(const Posted& posted);
  void Failed(const Error& error);

  Client client_;
  api::EventSource source_;
  const Clock& clock_;
  Settings settings_;
  std::deque<api::Event> waiting_;  // One is posted at a time, so that its repetition finds it.
  int failures_ = 0;                // Of the first of them.
  std::optional<Failure> failure_;  // The last one.
  Backoff backoff_;
  event::Timer again_;
  std::map<Key, Posted> posted_;
  std::deque<Key> oldest_;  // The keys of `posted_`.
  Call call_;
};

}  // namespace pintle::kube
