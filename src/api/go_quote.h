// SPDX-License-Identifier: Apache-2.0
#pragma once

// A text as Go's %q shows it.  Messages that tools compare, such as a pool's conditions, have it inside.

#include <string>
#include <string_view>

namespace pintle::api {

// In double quotes, with what cannot be printed escaped: say "hi"\n becomes "say \"hi\"\n".
std::string GoQuoted(std::string_view text);

}  // namespace pintle::api
