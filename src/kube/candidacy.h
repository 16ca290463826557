// SPDX-License-Identifier: Apache-2.0
#pragma once

// What one of several candidates makes of the lease that they compete for.
//
// Clocks of machines differ, so the times in a lease are for people.  A candidate notes when it saw the lease change,
// by its own monotonic clock, and takes it for abandoned when it did not change for as long as its holder promised to
// renew it.  A holder in turn gives up by itself well before that, counted from when it sent its last renewal.

#include <chrono>
#include <optional>
#include <string>

#include "api/lease.h"
#include "base/clock.h"

namespace pintle::kube {

// As in OpenShift's own operators: a cluster of one machine may be without its API server for a minute.
struct LeaseTimes {
  std::chrono::milliseconds duration = std::chrono::seconds(137);  // Kept in the lease as whole seconds.
  std::chrono::milliseconds renew_deadline = std::chrono::seconds(107);
  std::chrono::milliseconds retry = std::chrono::seconds(26);
};

class Candidacy {
 public:
  Candidacy(std::string identity, LeaseTimes times) : identity_(std::move(identity)), times_(times) {}

  // The lease as it is now, or nothing when there is none.  Answers what to write into it, which is nothing while it is
  // someone else's.
  std::optional<api::LeaseSpec> Decide(const std::optional<api::LeaseSpec>& found, MonotonicTime now, WallTime wall);

  // What was decided is written; it was sent at this time.
  void Wrote(MonotonicTime sent) { sent_ = sent; }

  bool IsLeader(MonotonicTime now) const { return sent_ && now < *sent_ + times_.renew_deadline; }
  // When that ends without another renewal.
  std::optional<MonotonicTime> LeaderUntil() const;

  // What the holder writes when it goes, so that nobody has to wait.
  api::LeaseSpec Release(WallTime wall) const;

 private:
  std::string identity_;
  LeaseTimes times_;
  std::optional<api::LeaseSpec> seen_;
  MonotonicTime seen_since_;
  std::optional<MonotonicTime> sent_;  // Of the last renewal, while the lease is ours.
};

}  // namespace pintle::kube
