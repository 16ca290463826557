// SPDX-License-Identifier: Apache-2.0
#pragma once

// Converts JSON to values of templates, which have the types that Go's decoder would give them.

#include "gotemplate/value.h"
#include "json/value.h"

namespace pintle::gotemplate {

// With kAnyType, a number is a float64, an object is a map[string]interface {}, and null is a nil interface.  With
// another type, a member that is missing or does not fit has the zero value.  The values refer to texts in `json`,
// which must outlive them.
Value FromJson(const json::Value& json, const Type& type, Memory& memory);

}  // namespace pintle::gotemplate
