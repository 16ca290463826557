// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides who holds the leases of the Machine Config Operator during a takeover, and what is written to them.
//
// A takeover holds a lease until its last holder has given up, and then offers the lease to Pintle's replicas alone.
// docs/takeover.md proves that no two programs act by one lease at the same time.

#include <chrono>
#include <optional>

#include "api/lease.h"
#include "base/clock.h"
#include "controller/lease_sightings.h"
#include "controller/takeover_state.h"

namespace pintle::controller {

// Returns whether the holder in the lease is a replica of Pintle.
bool IsHeldByPintle(const std::optional<api::Lease>& lease, const TakeoverSettings& settings);

// Returns whether another program holds the lease, or did so last.
bool IsHeldByOthers(const std::optional<api::Lease>& lease, const TakeoverSettings& settings);

// Returns whether a replica of Pintle may still act by the lease.  A replica that ends releases the lease, unless it is
// killed.
bool MayPintleActBy(const std::optional<api::Lease>& lease, const LeaseSight& sight, const TakeoverSettings& settings);

// Returns whether a replica of Pintle leads.  The name of a holder alone does not prove this: the replica may have
// ended long ago.
bool DoesPintleLeadBy(const std::optional<api::Lease>& lease, const LeaseSight& sight,
                      const TakeoverSettings& settings);

// Returns the write that is due for a lease that Pintle does not hold, or nullopt.  The lease is first kept from
// everyone until its holder has given up.  After that, it is kept from everyone except Pintle's replicas.
std::optional<TakeoverWrite> WriteToHold(const std::optional<api::Lease>& lease, const LeaseSight& sight,
                                         const TakeoverSettings& settings, WallTime now);

// Returns for how long two of the operator's programs may act by the lease if `start` is killed before it has renewed
// its first hold.  If the operator is of a newer release, they do not: then a candidate leaves the lease alone for the
// duration that the hold has.  An older one leaves it alone for its own duration, which is the one of the last holder.
std::chrono::seconds OverlapAfterKilledHold(const std::optional<api::Lease>& lease, const TakeoverSettings& settings);

// Returns whether a takeover holds or offers the lease now.
bool IsHeldForTakeover(const std::optional<api::Lease>& lease, const TakeoverSettings& settings);

// Returns the write that removes all traces of a hold.  Releases the lease if it is still held.
std::optional<TakeoverWrite> WriteToForgetHold(const std::optional<api::Lease>& lease,
                                               const TakeoverSettings& settings);

// Returns whether a takeover holds the lease or has held it.
bool HasTraceOfHold(const api::Lease& lease, const TakeoverSettings& settings);

}  // namespace pintle::controller
