// SPDX-License-Identifier: Apache-2.0
#pragma once

// The files of the page that are the same for all clusters.

#include <string_view>

namespace pintle::dashboard {

extern const std::string_view kStyle;
extern const std::string_view kScript;
extern const std::string_view kIcon;

}  // namespace pintle::dashboard
