// SPDX-License-Identifier: Apache-2.0
#pragma once

// Quotes text as Go's %q does.  Messages that tools compare, such as a pool's conditions, contain such text.

#include <string>
#include <string_view>

namespace pintle::api {

// Returns the text in double quotes, with unprintable characters escaped: say "hi"\n becomes "say \"hi\"\n".
std::string GoQuoted(std::string_view text);

}  // namespace pintle::api
