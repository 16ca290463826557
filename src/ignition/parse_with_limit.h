// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads a config where memory is scarce.

#include <cstddef>
#include <string_view>

#include "base/result.h"
#include "ignition/config.h"
#include "json/report.h"

namespace pintle::ignition {

// Like Parse(), but a config that unpacks to more than `limit` bytes is an error.
Result<Config> ParseWithLimit(std::size_t limit, std::string_view bytes, json::Report& report);

}  // namespace pintle::ignition
