// SPDX-License-Identifier: Apache-2.0
#pragma once

// JSON as Go writes it, with < > & escaped: limits count its bytes, and errors name places in it.

#include <cstddef>
#include <string>

#include "json/parse.h"

namespace pintle::json {

std::string GoJson(const Value& value);

// The length of that, without making it.
std::size_t GoJsonLength(const Value& value);

}  // namespace pintle::json
