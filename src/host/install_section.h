// SPDX-License-Identifier: Apache-2.0
#pragma once

// The [Install] section of a unit: which links enabling it makes.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/root.h"
#include "host/unit_name.h"

namespace pintle::host {

struct InstallSection {
  std::vector<std::string> aliases;
  std::vector<std::string> wanted_by;
  std::vector<std::string> required_by;
  std::vector<std::string> upheld_by;
  std::vector<std::string> also;
  std::string default_instance;

  // Reads a unit's file or a drop-in of it, in the order in which systemd does: lists grow, an empty value clears one.
  Result<> Add(std::string_view text, const UnitName& unit);
};

// "%i" and the like, as far as they can be told of a machine that is not running: what would need its kernel or its
// host name is an error.
Result<std::string> ExpandSpecifiers(std::string_view text, const UnitName& unit, std::string_view default_instance,
                                     const Root& root);

}  // namespace pintle::host
