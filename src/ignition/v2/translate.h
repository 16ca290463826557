// SPDX-License-Identifier: Apache-2.0
#pragma once

// Spec 2: how it is read, becomes 3.0, and comes from 3.2.

#include "base/result.h"
#include "ignition/reading.h"
#include "ignition/v2/types.h"
#include "ignition/v3_0/types.h"
#include "ignition/v3_2/types.h"
#include "json/report.h"

namespace pintle::ignition::v2 {

// Reads a document of spec 2.`minor`, and validates it.  Problems are in the report.
Config ReadAndValidate(Reading& reading);

// Spec 2 lets a config name the same thing twice, which spec 3 does not: of files and units, which come out last first,
// the last one counts, and the drop-ins of all; of users there is only "core", with the SSH keys of all.
Result<Config> WithoutDuplicates(Config config);

// What spec 3 cannot say is an error.
Result<v3_0::Config> ToV3_0(Config config);

// What spec 2.2 cannot say is an error.
Result<Config> FromV3_2(v3_2::Config config);

}  // namespace pintle::ignition::v2
