// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides when a failed write may be repeated.
//
// Each object has its own back-off for each kind of write, from a second to five minutes.  So an object that the API
// server refuses delays no other object, and costs the server little, however often the controller looks at the object.
// A success resets the back-off.  This class only calculates: its owner calls it before each write, and reports each
// outcome to it.  Some owners use it for reads and other actions, too.

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.h"
#include "kube/backoff.h"

namespace pintle::controller {

class WriteBackoff {
 public:
  // The kind of write and the name of the object.
  using Key = std::pair<std::string, std::string>;

  explicit WriteBackoff(kube::Random random = kube::SystemRandom()) : random_(std::move(random)) {}

  // Returns whether the write may be made now.
  bool IsDue(const Key& key, MonotonicTime now) const;
  // Returns when the write is due, or nullopt if it is due now.
  std::optional<MonotonicTime> DueAt(const Key& key, MonotonicTime now) const;

  // Records a failure; `no_sooner` is the server's Retry-After.  Returns the number of failures in a row.
  int Failed(const Key& key, MonotonicTime now, std::chrono::milliseconds no_sooner = {});
  // Records a conflict: somebody else changed the object first.  The write may be decided again at once, unless there
  // are many conflicts.  Returns whether there were so many since the last success that they count as a failure.
  bool CountConflict(const Key& key, MonotonicTime now);
  // Returns whether the owner must read the object from the server before the write.  Returns true once after each
  // conflict that delayed the write, because the other client may have changed the object again during the delay.  If
  // the other client is quicker than the events of the watch, a write that is decided from the mirror always fails.
  bool MustReadFirst(const Key& key);
  void Succeeded(const Key& key) { failures_.erase(key); }
  void Clear() { failures_.clear(); }

 private:
  struct Failures {
    kube::Backoff backoff;
    MonotonicTime due;       // When the write may be repeated.
    int count = 0;           // The failures since the last success.
    int conflicts = 0;       // The conflicts since the last success.
    bool must_read = false;  // The next result of MustReadFirst().
  };

  Failures& FailuresOf(const Key& key, MonotonicTime now);

  kube::Random random_;
  std::map<Key, Failures> failures_;
};

}  // namespace pintle::controller
