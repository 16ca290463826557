// SPDX-License-Identifier: Apache-2.0
#include "kube/candidacy.h"

#include <algorithm>
#include <limits>

#include "json/field_list.h"

namespace pintle::kube {
namespace {

std::int32_t WholeSeconds(std::chrono::milliseconds duration) {
  return static_cast<std::int32_t>(std::chrono::ceil<std::chrono::seconds>(duration).count());
}

// Adds one, unless that would overflow.
std::int32_t OneMore(std::int32_t transitions) {
  return transitions == std::numeric_limits<std::int32_t>::max() ? transitions : transitions + 1;
}

}  // namespace

std::optional<api::LeaseSpec> Candidacy::Decide(const std::optional<api::LeaseSpec>& found, MonotonicTime now,
                                                WallTime wall) {
  const bool is_ours = found && found->holder_identity == identity_;
  if (!is_ours) sent_.reset();
  api::LeaseSpec next = {.holder_identity = identity_,
                         .lease_duration_seconds = WholeSeconds(times_.duration),
                         .acquire_time = api::MicroTime{wall},
                         .renew_time = api::MicroTime{wall}};
  if (!found) {
    seen_.reset();
    return next;
  }
  if (!seen_ || !json::Equal(*seen_, *found)) {
    seen_ = found;
    seen_since_ = now;
  }
  const bool is_free = found->holder_identity.empty() || found->holder_identity == offer_;
  if (!is_ours && !is_free && MayHolderAct(now)) return std::nullopt;
  next.lease_transitions = is_ours ? found->lease_transitions : OneMore(found->lease_transitions);
  if (is_ours && found->acquire_time) next.acquire_time = found->acquire_time;
  return next;
}

bool Candidacy::MayHolderAct(MonotonicTime now) const {
  // If the holder wrote no duration, ours counts.
  const std::chrono::seconds promised(seen_->lease_duration_seconds);
  return now < seen_since_ + (promised.count() > 0 ? promised : times_.duration);
}

std::string Candidacy::OtherHolder(MonotonicTime now) const {
  if (!seen_ || seen_->holder_identity == identity_ || !MayHolderAct(now)) return "";
  return seen_->holder_identity;
}

std::optional<MonotonicTime> Candidacy::LeaderUntil() const {
  return sent_ ? std::optional(*sent_ + times_.renew_deadline) : std::nullopt;
}

api::LeaseSpec Candidacy::Release(WallTime wall) const {
  return {.holder_identity = "",
          .lease_duration_seconds = 1,
          .acquire_time = api::MicroTime{wall},
          .renew_time = api::MicroTime{wall},
          .lease_transitions = seen_ ? seen_->lease_transitions : 0};
}

}  // namespace pintle::kube
