// SPDX-License-Identifier: Apache-2.0
#pragma once

// Prints values as Go's print, println and printf do.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "gotemplate/value.h"

namespace pintle::gotemplate {

// The limit of the length of a printed text.  It is needed because a format may ask for millions of spaces many times,
// and because a template may pass a long text to a function many times.
inline constexpr std::size_t kLongestPrint = std::size_t{64} << 20;

// Returns an error if a text is longer than kLongestPrint.
Result<> CheckLength(std::string_view text);

// The only error of these functions is that the text would be too long.
Result<std::string> Print(std::span<const Value> values);
Result<std::string> PrintLine(std::span<const Value> values);
// As in Go, the text itself reports mistakes in the format.
Result<std::string> PrintFormat(std::string_view format, std::span<const Value> values);

// Formats a value for an error, as Go does with %v or with another verb.
std::string FormattedValue(const Value& value, char verb = 'v');

}  // namespace pintle::gotemplate
