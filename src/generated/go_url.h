// SPDX-License-Identifier: Apache-2.0
#pragma once

// URLs as Go reads them: an error of a template has Go's words for one that is none.

#include <string>
#include <string_view>

#include "base/result.h"

namespace pintle::generated {

struct GoUrl {
  std::string scheme;  // In small letters.
  std::string host;    // Without the port, and an address of IPv6 without its brackets.
  std::string port;
};

Result<GoUrl> ReadGoUrl(std::string_view url);

}  // namespace pintle::generated
