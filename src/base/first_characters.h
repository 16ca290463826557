// SPDX-License-Identifier: Apache-2.0
#pragma once

// Shortens a text that we did not write, for a place where texts must be short and valid UTF-8.

#include <cstddef>
#include <string>
#include <string_view>

namespace pintle {

// Returns the first `count` characters, or all if there are fewer.  A byte that is not UTF-8 becomes U+FFFD.
std::string FirstCharacters(std::string_view text, std::size_t count);

}  // namespace pintle
