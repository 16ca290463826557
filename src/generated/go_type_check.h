// SPDX-License-Identifier: Apache-2.0
#pragma once

// Checks that Go could decode a JSON value into a type of templates.
//
// Templates read values by gotemplate::FromJson(), which treats a value of the wrong type like a missing one.

#include "generated/go_reading.h"
#include "gotemplate/type.h"
#include "json/value.h"

namespace pintle::generated {

// Reports the values that do not fit, in the words of Go.  Members that the type does not have are ignored.
void CheckGoType(const json::Value& value, const gotemplate::Type& type, const GoPlace* place, GoReading& reading);

}  // namespace pintle::generated
