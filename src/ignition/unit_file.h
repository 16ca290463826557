// SPDX-License-Identifier: Apache-2.0
#pragma once

// Whether Ignition takes a text for a systemd unit.
//
// This is not how systemd reads units.  Ignition refuses some of what systemd takes, and a config that Ignition refuses
// must not get past us, nor the other way round; so this follows Ignition's reader to the length of its buffer.

#include <string_view>

#include "base/result.h"

namespace pintle::ignition {

struct UnitContents {
  bool has_options = false;  // One assignment at least.
  bool has_install_section = false;
};

// The error is in Ignition's words.
Result<UnitContents> ReadUnit(std::string_view text);

}  // namespace pintle::ignition
