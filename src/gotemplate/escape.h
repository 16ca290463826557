// SPDX-License-Identifier: Apache-2.0
#pragma once

// Escapes texts for HTML, JavaScript and the query of a URL.

#include <string>
#include <string_view>

namespace pintle::gotemplate {

std::string HtmlEscaped(std::string_view text);
std::string JavaScriptEscaped(std::string_view text);
std::string QueryEscaped(std::string_view text);

}  // namespace pintle::gotemplate
