// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides when a failed write may be repeated.
//
// Each object has its own back-off for each kind of write, from a second to five minutes.  So an object that the API
// server refuses delays no other object, and costs the server little, however often the controller looks at it.  A
// success resets the back-off.  This class only calculates: the writer calls it before each write, and reports the
// outcome to it.

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

  bool IsDue(const Key& key, MonotonicTime now) const;
  // Returns when the write is due, or nullopt if it is due now.
  std::optional<MonotonicTime> DueAt(const Key& key, MonotonicTime now) const;

  // Records a failure; `no_sooner` is the server's Retry-After.  Returns the number of failures in a row.
  int Failed(const Key& key, MonotonicTime now, std::chrono::milliseconds no_sooner = {});
  // Records that somebody else changed the object first.  The write may be decided again at once, unless that keeps
  // happening.  Returns whether there were so many such conflicts since the last success that they count as a failure.
  bool CountConflict(const Key& key, MonotonicTime now);
  // Returns whether the writer must first read the object from the server, and resets this.  It must do so once after
  // each conflict that delayed the write, because the other client may have changed the object again during the delay.
  // If the other client is quicker than the events of the watch, a write that is decided from the mirror always fails.
  bool MustReadFirst(const Key& key);
  void Succeeded(const Key& key) { failures_.erase(key); }
  void Clear() { failures_.clear(); }

 private:
  struct Failures {
    kube::Backoff backoff;
    MonotonicTime due;
    int count = 0;
    int conflicts = 0;
    bool must_read = false;
  };

  Failures& FailuresOf(const Key& key, MonotonicTime now);

  kube::Random random_;
  std::map<Key, Failures> failures_;
};

}  // namespace pintle::controller
