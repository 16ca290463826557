// SPDX-License-Identifier: Apache-2.0
#pragma once

// The beginning of a text that came from somewhere else, for a place where it must be short and must be text.

#include <cstddef>
#include <string>
#include <string_view>

namespace pintle {

// So many characters of UTF-8, or all there are.  A byte that is none becomes U+FFFD.
std::string FirstCharacters(std::string_view text, std::size_t count);

}  // namespace pintle
