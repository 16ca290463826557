// SPDX-License-Identifier: Apache-2.0
#pragma once

// Writes JSON as Go does: the characters < > & and U+2028 and U+2029 are escaped.  Size limits count the bytes of this
// JSON, and errors give offsets in it.

#include <cstddef>
#include <string>

#include "json/parse.h"

namespace pintle::json {

std::string GoJson(const Value& value);

// Returns the length of GoJson(value) without building the text.
std::size_t GoJsonLength(const Value& value);

}  // namespace pintle::json
