// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides whether Ignition accepts a text as a systemd unit.
//
// Ignition's parser differs from systemd's.  We must accept exactly the configs that Ignition accepts, so this code
// imitates Ignition's parser, even the size of its buffer.

#include <string_view>

#include "base/result.h"

namespace pintle::ignition {

struct UnitContents {
  bool has_options = false;  // Whether there is at least one assignment.
  bool has_install_section = false;
};

// Returns Ignition's error if Ignition would not accept the text.
Result<UnitContents> ReadUnit(std::string_view text);

}  // namespace pintle::ignition
