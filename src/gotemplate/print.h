// SPDX-License-Identifier: Apache-2.0
#pragma once

// Values as texts: Go's print, println and printf.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "gotemplate/value.h"

namespace pintle::gotemplate {

// A format may ask for a million spaces, many times.
inline constexpr std::size_t kLongestPrint = std::size_t{64} << 20;

std::string Print(std::span<const Value> values);
std::string PrintLine(std::span<const Value> values);
// What a format says wrongly is told in the text, as Go does it.  An error: the text would be too long.
Result<std::string> PrintFormat(std::string_view format, std::span<const Value> values);

// What stands in the place of %v, or of another verb, in an error.
std::string Shown(const Value& value, char verb = 'v');

}  // namespace pintle::gotemplate
