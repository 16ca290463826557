// SPDX-License-Identifier: Apache-2.0
#pragma once

// Escapes texts for HTML, JavaScript and the query of a URL.  An escaped text that is longer than `longest` may be cut
// off.

#include <cstddef>
#include <string>
#include <string_view>

namespace pintle::gotemplate {

std::string HtmlEscaped(std::string_view text, std::size_t longest);
std::string JavaScriptEscaped(std::string_view text, std::size_t longest);
std::string QueryEscaped(std::string_view text, std::size_t longest);

}  // namespace pintle::gotemplate
