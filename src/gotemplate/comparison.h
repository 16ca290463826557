// SPDX-License-Identifier: Apache-2.0
#pragma once

// Compares values.  It is an error if the types of two values cannot be compared.

#include <span>

#include "base/result.h"
#include "gotemplate/value.h"

namespace pintle::gotemplate {

// Returns whether the first value equals any of the values after it.
Result<bool> EqualsAny(std::span<const Value> values);
Result<bool> IsLess(const Value& a, const Value& b);
Result<bool> IsLessOrEqual(const Value& a, const Value& b);

}  // namespace pintle::gotemplate
