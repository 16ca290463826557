// SPDX-License-Identifier: Apache-2.0
#pragma once

// Describes differences of contents to people: line by line if the contents are text, and with secrets masked.

#include <string>
#include <string_view>

namespace pintle::change {

// Compares two contents of a file; returns "" if they are equal.  For contents that are secret, binary or very long,
// the text has only the lengths.
std::string ContentsText(std::string_view path, std::string_view from, std::string_view to);

// Compares two texts; returns "" if they are equal.
std::string TextDiff(std::string_view from, std::string_view to);

}  // namespace pintle::change
