// SPDX-License-Identifier: Apache-2.0
#pragma once

// What spec 2.2 refuses, and what it warns of.

#include "ignition/v2/types.h"
#include "json/report.h"

namespace pintle::ignition::v2 {

void Validate(const Config& config, json::Report& report);

}  // namespace pintle::ignition::v2
