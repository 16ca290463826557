// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the OS and the admin say about units of which nobody else says anything: systemd.preset(5).

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/root.h"
#include "host/unit_name.h"

namespace pintle::host {

enum class PresetAction { kEnable, kDisable, kIgnore };

struct Preset {
  PresetAction action = PresetAction::kEnable;
  // Of a template for which the rule lists instances: those, to be enabled in its place.
  std::vector<UnitName> instances;
};

class Presets {
 public:
  static Result<Presets> Read(const Root& root);

  // The first rule that speaks of the unit decides; without one it is enabled.
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
