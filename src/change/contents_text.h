// SPDX-License-Identifier: Apache-2.0
#pragma once

// Describes differences of contents to people: line by line if the contents are text, and with secrets masked.

#include <cstddef>
#include <string>
#include <string_view>

namespace pintle::change {

// Nobody reads longer contents line by line, so only their lengths are reported.
inline constexpr std::size_t kMostBytesInDiff = 4 << 20;

// Returns the text for contents that differ and of which one is too long for a diff.
std::string TooLongText(std::size_t bytes_before, std::size_t bytes_after);

// Returns a diff of two contents of a file, or "" if they are equal.  For contents that are secret, binary or very
// long, the text has only the lengths.
std::string ContentsText(std::string_view path, std::string_view from, std::string_view to);

// Returns a diff of two texts, or "" if they are equal.  For very long texts, the result has only the lengths.
std::string TextDiff(std::string_view from, std::string_view to);

}  // namespace pintle::change
