// SPDX-License-Identifier: Apache-2.0
#pragma once

// Tells people what happens to an object, where `kubectl describe` shows it.
//
// What happens again is counted in the Event of the first time, so that nobody finds the same a hundred times.  Events
// are not worth much: one that cannot be posted is lost, and so are the newest when too many wait.

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <tuple>

#include "api/event.h"
#include "base/clock.h"
#include "kube/client.h"

namespace pintle::kube {

enum class EventKind { kNormal, kWarning };

class EventRecorder {
 public:
  // The clock must outlive it.
  EventRecorder(Client client, api::EventSource source, const Clock& clock)
      : client_(std::move(client)), source_(std::move(source)), clock_(clock) {}
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
  void Done(bool is_posted, const Posted& posted);

  Client client_;
  api::EventSource source_;
  const Clock& clock_;
  std::deque<api::Event> waiting_;  // One is posted at a time, so that its repetition finds it.
  std::map<Key, Posted> posted_;
  std::deque<Key> oldest_;  // The keys of `posted_`.
  Call call_;
};

}  // namespace pintle::kube
