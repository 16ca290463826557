// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads the presets of the OS and the admin, systemd.preset(5).  They apply to units that a config neither enables nor
// disables.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/root.h"
#include "host/systemd/unit_name.h"

namespace pintle::host {

enum class PresetAction { kEnable, kDisable, kIgnore };

struct Preset {
  PresetAction action = PresetAction::kEnable;
  // The instances that the rule lists for a template.  They are enabled instead of the template.
  std::vector<UnitName> instances;
};

class Presets {
 public:
  static Result<Presets> Read(const Root& root);

  // Returns the preset that the first matching rule demands.  A unit without a matching rule is enabled.
  Preset Of(const UnitName& unit) const;

 private:
  struct Rule {
    PresetAction action;
    std::string pattern;
    std::vector<std::string> instances;
  };

  void AddRule(std::string_view line);

  std::vector<Rule> rules_;
};

}  // namespace pintle::host
