// SPDX-License-Identifier: Apache-2.0
#include "controller/takeover_leases.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

#include "api/annotations.h"
#include "controller/replacing_patch.h"
#include "json/fields.h"

namespace pintle::controller {
namespace {

constexpr const char* kTakeoverHolder = "pintle-takeover";
constexpr const char* kHeldUntilAnnotation = "pintle.io/held-until";

// Returns how long others have to leave the lease alone after its last renewal: the promise to the holder.
std::chrono::seconds PromiseOf(const api::Lease& lease, const TakeoverSettings& settings) {
  const std::chrono::seconds written(lease.spec.lease_duration_seconds);
  return written.count() > 0 ? written : settings.hold;
}

// Returns how long a lease has to be held until its last holder has given up.  A holder acts until its deadline, which
// counts from its first try after its last renewal.  The deadline is shorter than the promise, and the time between two
// tries is less than a quarter of the promise in all of OpenShift's settings.
std::chrono::milliseconds HoldTime(std::chrono::milliseconds promised) { return promised + promised / 4; }

// The times with which the operator's programs use a lease.
struct HolderTimes {
  std::chrono::seconds duration;  // For how long others leave the lease alone.
  std::chrono::seconds deadline;  // For how long a holder tries to renew the lease until it gives up.
  std::chrono::seconds retry;     // How long a holder waits after a renewal.
};

constexpr auto kTimesOfOperator = std::to_array<HolderTimes>({
    {.duration = std::chrono::seconds(137), .deadline = std::chrono::seconds(107), .retry = std::chrono::seconds(26)},
    // These are the times in a cluster of one machine.
    {.duration = std::chrono::seconds(270), .deadline = std::chrono::seconds(240), .retry = std::chrono::seconds(60)},
});

// Returns the promise to the last holder of a lease.  While the lease is held or offered, the duration in the lease is
// the HoldTime() of this promise, because the last holder may act for that long if this run is killed.
std::chrono::seconds PromiseBeforeHold(const api::Lease& lease, const TakeoverSettings& settings) {
  const std::chrono::seconds written = PromiseOf(lease, settings);
  return IsHeldByOthers(lease, settings) ? written : written * 4 / 5;
}

// The values that a takeover writes into a lease to keep it from others.
struct LeaseHold {
  std::string holder;  // kTakeoverHolder or TakeoverSettings::offer.
  WallTime until;      // The time at which the last holder has given up; for people only, because clocks differ.
  std::chrono::seconds promised;  // The promise to the last holder.
  std::string in_words;
};

TakeoverWrite WriteOf(const LeaseHold& hold, const api::Lease& lease, WallTime now) {
  api::LeaseSpec spec = lease.spec;
  spec.holder_identity = hold.holder;
  const auto duration = std::chrono::ceil<std::chrono::seconds>(HoldTime(hold.promised));
  spec.lease_duration_seconds = static_cast<std::int32_t>(duration.count());
  if (lease.spec.holder_identity != hold.holder) spec.acquire_time = api::MicroTime{now};
  spec.renew_time = api::MicroTime{now};
  ReplacingPatch patch(lease.metadata);
  patch.Set("/spec", json::Encode(spec));
  patch.SetAnnotations({{kHeldUntilAnnotation, ToRfc3339(hold.until)}});
  return {
      .object = TakeoverObject::kLease,
      .namespace_name = lease.metadata.namespace_name,
      .name = lease.metadata.name,
      .patch = std::move(patch).operations(),
      .in_words = fmt::format("Lease {}/{}: {}", lease.metadata.namespace_name, lease.metadata.name, hold.in_words)};
}

WallTime TimeAfter(std::chrono::milliseconds time, WallTime now) {
  return std::chrono::ceil<std::chrono::seconds>(now + time);
}

}  // namespace

bool IsHeldByPintle(const std::optional<api::Lease>& lease, const TakeoverSettings& settings) {
  return lease && lease->spec.holder_identity.starts_with(settings.own_identity_prefix);
}

bool IsHeldByOthers(const std::optional<api::Lease>& lease, const TakeoverSettings& settings) {
  if (!lease) return false;
  const std::string& holder = lease->spec.holder_identity;
  return !holder.empty() && holder != kTakeoverHolder && holder != settings.offer && !IsHeldByPintle(lease, settings);
}

bool MayPintleActBy(const std::optional<api::Lease>& lease, const LeaseSight& sight, const TakeoverSettings& settings) {
  return IsHeldByPintle(lease, settings) && sight.unchanged_for < PromiseOf(*lease, settings);
}

bool DoesPintleLeadBy(const std::optional<api::Lease>& lease, const LeaseSight& sight,
                      const TakeoverSettings& settings) {
  return MayPintleActBy(lease, sight, settings) && sight.is_written;
}

std::optional<TakeoverWrite> WriteToHold(const std::optional<api::Lease>& lease, const LeaseSight& sight,
                                         const TakeoverSettings& settings, WallTime now) {
  if (!lease || lease->spec.holder_identity.empty() || IsHeldByPintle(lease, settings)) return std::nullopt;
  const std::chrono::seconds promised = PromiseBeforeHold(*lease, settings);
  const auto until = FromRfc3339(lease->metadata.Annotation(kHeldUntilAnnotation));
  if (IsHeldByOthers(lease, settings) || !until) {
    const WallTime given_up = TimeAfter(HoldTime(promised), now);
    return WriteOf({.holder = kTakeoverHolder,
                    .until = given_up,
                    .promised = promised,
                    .in_words = fmt::format("is held until {}, when its holder has given up", ToRfc3339(given_up))},
                   *lease, now);
  }
  const std::string& holder = lease->spec.holder_identity;
  // Another machine may have begun the hold, with another clock.  So only the time for which this run has seen the hold
  // counts.
  if (holder == kTakeoverHolder && sight.held_for >= HoldTime(promised)) {
    return WriteOf({.holder = settings.offer,
                    .until = *until,
                    .promised = promised,
                    .in_words = "is left to Pintle's replicas, and kept from others"},
                   *lease, now);
  }
  // Others take a lease that has not changed for its duration, so the lease is renewed in time.  A run does not know
  // the age of the contents that it sees first, so the run renews the lease at once.
  const bool is_fresh = sight.is_written && sight.unchanged_for < std::chrono::milliseconds(promised) / 4;
  if (is_fresh) return std::nullopt;
  const WallTime given_up = holder == kTakeoverHolder ? TimeAfter(HoldTime(promised) - sight.held_for, now) : *until;
  return WriteOf({.holder = holder, .until = given_up, .promised = promised, .in_words = "stays held"}, *lease, now);
}

std::chrono::seconds OverlapAfterKilledHold(const std::optional<api::Lease>& lease, const TakeoverSettings& settings) {
  if (!lease) return {};
  const std::chrono::seconds promised = PromiseBeforeHold(*lease, settings);
  for (const HolderTimes& times : kTimesOfOperator) {
    // The last holder may have renewed the lease just before the hold, and the other candidate may have seen the hold
    // at once.
    if (times.duration != promised) continue;
    return std::max(std::chrono::seconds(), times.retry + times.deadline - times.duration);
  }
  return {};
}

bool IsHeldForTakeover(const std::optional<api::Lease>& lease, const TakeoverSettings& settings) {
  return lease && (lease->spec.holder_identity == kTakeoverHolder || lease->spec.holder_identity == settings.offer);
}

std::optional<TakeoverWrite> WriteToForgetHold(const std::optional<api::Lease>& lease,
                                               const TakeoverSettings& settings) {
  if (!lease || !HasTraceOfHold(*lease, settings)) return std::nullopt;
  ReplacingPatch patch(lease->metadata);
  const bool is_held = IsHeldForTakeover(lease, settings);
  if (is_held) patch.Set("/spec/holderIdentity", "");
  if (!lease->metadata.Annotation(kHeldUntilAnnotation).empty()) patch.RemoveAnnotations({kHeldUntilAnnotation});
  return TakeoverWrite{
      .object = TakeoverObject::kLease,
      .namespace_name = lease->metadata.namespace_name,
      .name = lease->metadata.name,
      .patch = std::move(patch).operations(),
      .in_words = fmt::format("Lease {}/{}: {}has no annotation {} any more", lease->metadata.namespace_name,
                              lease->metadata.name, is_held ? "is released, and " : "", kHeldUntilAnnotation)};
}

bool HasTraceOfHold(const api::Lease& lease, const TakeoverSettings& settings) {
  return IsHeldForTakeover(lease, settings) || !lease.metadata.Annotation(kHeldUntilAnnotation).empty();
}

}  // namespace pintle::controller
