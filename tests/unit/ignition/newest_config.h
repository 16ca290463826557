// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "ignition/config.h"
#include "support/expect.h"

namespace pintle::ignition {

// Returns a config of Ignition's newest version; `body` is its members beside `ignition`.
inline Config Read(std::string_view body) {
  json::Report report;
  return ValueOf(Parse(R"({"ignition": {"version": "3.5.0"}, )" + std::string(body) + "}", report));
}

}  // namespace pintle::ignition
