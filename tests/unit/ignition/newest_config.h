// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "ignition/config.h"
#include "support/expect.h"

namespace pintle::ignition {

// A config of the newest version of Ignition, of which this is what stands beside `ignition`.
inline Config Read(std::string_view body) {
  json::Report report;
  return ValueOf(Parse(R"({"ignition": {"version": "3.5.0"}, )" + std::string(body) + "}", report));
}

}  // namespace pintle::ignition
