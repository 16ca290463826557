// SPDX-License-Identifier: Apache-2.0
#include "controller/lease_sightings.h"

#include "json/field_list.h"

namespace pintle::controller {

LeaseSight LeaseSightings::See(const std::optional<api::Lease>& lease, MonotonicTime now) {
  if (!lease) {
    seen_.reset();
    return {};
  }
  if (!seen_ || !json::Equal(*seen_, lease->spec)) {
    const bool has_same_holder = seen_ && seen_->holder_identity == lease->spec.holder_identity &&
                                 seen_->acquire_time == lease->spec.acquire_time;
    if (!has_same_holder) held_since_ = now;
    is_written_ = seen_.has_value();
    seen_ = lease->spec;
    seen_since_ = now;
  }
  return {.unchanged_for = std::chrono::floor<std::chrono::milliseconds>(now - seen_since_),
          .held_for = std::chrono::floor<std::chrono::milliseconds>(now - held_since_),
          .is_written = is_written_};
}

}  // namespace pintle::controller
