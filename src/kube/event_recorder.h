// SPDX-License-Identifier: Apache-2.0
#pragma once

// Emits events about objects, which `kubectl describe` prints.
//
// A repetition is counted in the first Event, so that nobody has to read the same text a hundred times.  Losing an
// event does no harm: it is dropped if the server refuses it or is down for long, and new events are dropped while too
// many wait.  After a failure, all events wait, longer each time.

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
  // Together with the jitter, the longest interval is five minutes.  The first interval is long, because a program may
  // have two recorders, and both retry.
  static constexpr Backoff::Settings kRetryBackoff = {
      .first = std::chrono::seconds(2), .longest = std::chrono::minutes(4), .jitter = 0.25};

  struct Settings {
    // Gets the error of each failed attempt to post an event.
    std::function<void(const Error& error)> trouble = [](const Error&) {};
    Backoff::Settings backoff = kRetryBackoff;
  };

  // The clock must outlive this object.
  EventRecorder(const Client& client, api::EventSource source, const Clock& clock, Settings settings);
  EventRecorder(const EventRecorder&) = delete;
  EventRecorder& operator=(const EventRecorder&) = delete;

  // Events about objects without a namespace are in "default".
  void Post(const api::ObjectReference& about, EventKind kind, const std::string& reason, const std::string& message);

 private:
  // Two events with equal keys are repetitions.
  using Key = std::tuple<std::string, std::string, std::string, std::string, std::string, std::string, std::string>;
  struct Posted {
    std::string name;
    std::int32_t count;
  };

  static Key KeyOf(const api::Event& event);
  void PostNext();
  void Create();
  void Repeat(const Posted& first);
  void Succeeded(const Posted& posted);
  void Failed(const Error& error);

  Client client_;
  api::EventSource source_;
  const Clock& clock_;
  Settings settings_;
  WallTime::duration latest_{};     // The time in the name of the latest event.  No two events have the same.
  std::deque<api::Event> waiting_;  // One is posted at a time, so that a repetition finds the first Event.
  int failures_ = 0;                // The number of failed posts of the first event of `waiting_`.
  std::optional<Failure> failure_;  // The failure of the latest call.
  Backoff backoff_;
  event::Timer again_;
  std::map<Key, Posted> posted_;  // The latest events, to find repetitions.
  std::deque<Key> oldest_;        // The keys of `posted_`, the oldest first.
  Call call_;
};

}  // namespace pintle::kube
