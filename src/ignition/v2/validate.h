// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reports the errors and warnings of spec 2.2.

#include "ignition/v2/types.h"
#include "json/report.h"

namespace pintle::ignition::v2 {

void Validate(const Config& config, json::Report& report);

}  // namespace pintle::ignition::v2
