// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads spec 2, and translates it to 3.0 and from 3.2.

#include "base/result.h"
#include "ignition/reading.h"
#include "ignition/v2/types.h"
#include "ignition/v3_0/types.h"
#include "ignition/v3_2/types.h"
#include "json/report.h"

namespace pintle::ignition::v2 {

// Reads and validates a document of spec 2.`minor`.  Problems go to the report.
Config ReadAndValidate(Reading& reading);

// Removes duplicates, which spec 2 allows and spec 3 does not.  Of several files with the same path or units with the
// same name, the last one counts; a unit gets the drop-ins of all of them.  The order of files and units is reversed.
// Several users "core" become one with all SSH keys; any other user is an error.
Result<Config> WithoutDuplicates(Config config);

// Anything that spec 3 does not support is an error.
Result<v3_0::Config> ToV3_0(Config config);

// Anything that spec 2.2 does not support is an error.
Result<Config> FromV3_2(v3_2::Config config);

}  // namespace pintle::ignition::v2
