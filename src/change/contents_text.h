// SPDX-License-Identifier: Apache-2.0
#pragma once

// How contents differ, for people: line by line where that can be read, and with secrets masked.

#include <string>
#include <string_view>

namespace pintle::change {

// Of a file; nothing if they do not.
std::string ContentsText(std::string_view path, std::string_view from, std::string_view to);

// Of something that is text; nothing if they do not.
std::string TextDiff(std::string_view from, std::string_view to);

}  // namespace pintle::change
