// SPDX-License-Identifier: Apache-2.0
#pragma once

// Whether systemd starts a unit by itself.  The files of units, and the links that mask them, are entries of the file
// tree.

#include <array>
#include <string>
#include <tuple>
#include <utility>

#include "json/fields.h"

namespace pintle::resource {

enum class Enablement {
  kEnabled,
  kDisabled,
  kPreset,  // As the OS has it for a unit of which the config says nothing.
};

struct UnitState {
  using Key = std::string;  // The name of a unit.

  struct State {
    Enablement enablement = Enablement::kPreset;

    static constexpr auto kFields = std::tuple{json::Required{"enablement", &State::enablement}};
  };
};

}  // namespace pintle::resource

namespace pintle::json {

template <>
inline constexpr auto kNames<resource::Enablement> = std::array{
    std::pair{resource::Enablement::kEnabled, "enabled"},
    std::pair{resource::Enablement::kDisabled, "disabled"},
    std::pair{resource::Enablement::kPreset, "preset"},
};

}  // namespace pintle::json
