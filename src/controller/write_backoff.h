// SPDX-License-Identifier: Apache-2.0
#pragma once

// When a write that has failed may be tried again.
//
// Each object has a back-off of its own for each kind of write, from a second to five minutes: an object that the API
// server refuses holds up no other one, and costs the server little, however often the controller looks at it.  A write
// that succeeds forgets its failures.  This only reckons: whoever writes asks it before, and tells it afterwards.

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
  // When it is; nothing: it is now.
  std::optional<MonotonicTime> DueAt(const Key& key, MonotonicTime now) const;

  // It failed.  The server may have said how long to stay away.  Returns how often in a row that was by now.
  int Failed(const Key& key, MonotonicTime now, std::chrono::milliseconds no_sooner = {});
  // Somebody else was faster, so that it has to be decided anew.  That may happen at once, unless it keeps happening.
  void WasSlower(const Key& key, MonotonicTime now);
  void Succeeded(const Key& key) { failures_.erase(key); }
  void Clear() { failures_.clear(); }

 private:
  struct Failures {
    kube::Backoff backoff;
    MonotonicTime due;
    int count = 0;
    int times_slower = 0;
  };

  Failures& Of(const Key& key, MonotonicTime now);

  kube::Random random_;
  std::map<Key, Failures> failures_;
};

}  // namespace pintle::controller
