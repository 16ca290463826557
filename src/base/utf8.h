// SPDX-License-Identifier: Apache-2.0
#pragma once

// Whether bytes are text.

#include <string_view>

namespace pintle {

// As Unicode defines it: nothing longer than it needs to be, no surrogates, nothing above U+10FFFF.
bool IsUtf8(std::string_view bytes);

}  // namespace pintle
