// SPDX-License-Identifier: Apache-2.0
#pragma once

// JSON as values of templates, of the type that Go would read it into.

#include "gotemplate/value.h"
#include "json/value.h"

namespace pintle::gotemplate {

// With kAnyType: a number is a float64, an object a map[string]interface {}, null no value.  With another type, what
// does not fit it, or is missing, has the zero value.  Texts are those of `json`, which has to outlive what is made of
// it.
Value FromJson(const json::Value& json, const Type& type, Memory& memory);

}  // namespace pintle::gotemplate
