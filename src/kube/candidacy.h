// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides what one of several candidates does about the lease that they compete for.
//
// The clocks of machines differ, so the points in time that a lease contains are only for people.  A candidate notes by
// its own monotonic clock when the lease changed, and considers the lease abandoned if the lease has not changed for
// the duration that its holder wrote into it.  A holder gives up well before that time: its deadline counts from the
// sending of its last renewal.

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "api/lease.h"
#include "base/clock.h"

namespace pintle::kube {

// OpenShift's own operators use these times.  They are long, because the API server of a cluster of one machine may be
// down for a minute.
struct LeaseTimes {
  std::chrono::milliseconds duration = std::chrono::seconds(137);  // Stored in the lease as whole seconds.
  // The time from the sending of the last renewal until the holder gives up.
  std::chrono::milliseconds renew_deadline = std::chrono::seconds(107);
  // The interval between two reads of the lease; up to twice as long for a candidate that waits.
  std::chrono::milliseconds retry = std::chrono::seconds(26);
};

class Candidacy {
 public:
  // A lease whose holder is `offer` counts as released: the holder of this name leaves the lease to candidates that
  // know the name, and keeps it from all others.  An empty `offer` stands for no such holder.
  Candidacy(std::string identity, LeaseTimes times, std::string offer = {})
      : identity_(std::move(identity)), times_(times), offer_(std::move(offer)) {}

  // `found` is the current lease, or nullopt if there is none.  Returns what to write into the lease, or nullopt while
  // somebody else holds it.
  std::optional<api::LeaseSpec> Decide(const std::optional<api::LeaseSpec>& found, MonotonicTime now, WallTime wall);

  // Records that the decision was written; `sent` is when the request was sent.
  void Wrote(MonotonicTime sent) { sent_ = sent; }

  bool IsLeader(MonotonicTime now) const { return sent_ && now < *sent_ + times_.renew_deadline; }
  // Returns when our leadership ends without another renewal.
  std::optional<MonotonicTime> LeaderUntil() const;

  // Returns the other holder of the lease, or "" if none is known.
  std::string OtherHolder(MonotonicTime now) const;

  // Returns what a holder writes when it leaves, so that nobody has to wait.
  api::LeaseSpec Release(WallTime wall) const;

 private:
  // Returns whether the holder of the lease that was read last may still act.
  bool MayHolderAct(MonotonicTime now) const;

  std::string identity_;
  LeaseTimes times_;
  std::string offer_;
  std::optional<api::LeaseSpec> seen_;  // The lease as it was read last.
  MonotonicTime seen_since_;            // When the lease was first read with these contents.
  std::optional<MonotonicTime> sent_;   // When the last renewal was sent; unset if the lease is not ours.
};

}  // namespace pintle::kube
