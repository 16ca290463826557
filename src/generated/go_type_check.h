// SPDX-License-Identifier: Apache-2.0
#pragma once

// Checks that Go could decode a JSON value into a type that templates use.
//
// Go refuses a value of the wrong type.  Templates get their values from gotemplate::FromJson(), which treats such a
// value like a missing one, so this check is needed as well.

#include "generated/go_reading.h"
#include "gotemplate/type.h"
#include "json/value.h"

namespace pintle::generated {

// Reports the values that do not fit, in the words of Go.  Members that the type does not have are ignored.
void CheckGoType(const json::Value& value, const gotemplate::Type& type, const GoPlace* place, GoReading& reading);

}  // namespace pintle::generated
