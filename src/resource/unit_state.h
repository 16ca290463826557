// SPDX-License-Identifier: Apache-2.0
#pragma once

// Whether systemd starts a unit by itself.  The files of units, and the links that mask them, are entries of the file
// tree.

#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

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

    static constexpr auto kFields = json::FieldList{json::Required{"enablement", &State::enablement}};
  };
};

// The symlinks by which systemd's configuration says what is started and by which other names units go, as a whole:
// what enabling units has changed is undone by putting back the links that were there, whatever their [Install]
// sections say by then.  There is one.
struct UnitLinks {
  struct Key {
    static constexpr auto kFields = json::FieldList{};
  };

  struct State {
    std::map<std::string, std::string> targets;  // By path.
    std::vector<std::string> empty_folders;      // For links, where there are none.

    static constexpr auto kFields = json::FieldList{
        json::Required{"targets", &State::targets},
        json::Field{"emptyFolders", &State::empty_folders},
    };
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
