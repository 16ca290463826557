// SPDX-License-Identifier: Apache-2.0
#pragma once

// The time zone in which the times of a rollout are printed for people.

#include <memory>
#include <string>

#include "api/rollout_policy.h"
#include "base/clock.h"
#include "base/result.h"
#include "base/time_zone.h"
#include "base/time_zone_files.h"

namespace pintle::ctl {

struct DisplayZone {
  std::string name = "UTC";
  std::shared_ptr<const TimeZone> zone = std::make_shared<const TimeZone>();

  // Returns a text such as "Sun 2027-03-28 01:00 +01:00".
  std::string TextOf(WallTime time) const;
};

// Returns the time zone that all windows have, or that of the freeze if there are no windows, or else UTC.
Result<DisplayZone> DisplayZoneOf(const api::RolloutPolicy& policy, TimeZoneFiles& files);

}  // namespace pintle::ctl
