// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads the [Install] section of a unit.  The section lists the links that are made when the unit is enabled.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/root.h"
#include "host/systemd/unit_name.h"

namespace pintle::host {

struct InstallSection {
  std::vector<std::string> aliases;
  std::vector<std::string> wanted_by;
  std::vector<std::string> required_by;
  std::vector<std::string> upheld_by;
  std::vector<std::string> also;
  std::string default_instance;

  // Adds the text of a unit file or of one of its drop-ins.  Calls must be in the order in which systemd reads the
  // files, because values are appended to lists, and an empty value clears its list, except for Also=.
  Result<> Add(std::string_view text, const UnitName& unit);
};

// Expands %m, the specifiers that stand for parts of the unit's name, and those for the user, which is root.  Any other
// specifier, such as %H, is an error, since the machine below `root` is perhaps not running.
Result<std::string> ExpandSpecifiers(std::string_view text, const UnitName& unit, std::string_view default_instance,
                                     const Root& root);

}  // namespace pintle::host
