// SPDX-License-Identifier: Apache-2.0
#pragma once

// JSON as Go writes it, with < > & escaped.  Size limits count its bytes, and errors give offsets in it.

#include <cstddef>
#include <string>

#include "json/parse.h"

namespace pintle::json {

std::string GoJson(const Value& value);

// Returns the length of GoJson(value) without building the text.
std::size_t GoJsonLength(const Value& value);

}  // namespace pintle::json
