// SPDX-License-Identifier: Apache-2.0
#pragma once

// Parses URLs as Go does.  Errors have Go's words, because errors of templates contain them.

#include <string>
#include <string_view>

#include "base/result.h"

namespace pintle::generated {

struct GoUrl {
  std::string scheme;  // In lower case.
  std::string host;    // Without the port; an IPv6 address is without its brackets.
  std::string port;
};

Result<GoUrl> ReadGoUrl(std::string_view url);

}  // namespace pintle::generated
