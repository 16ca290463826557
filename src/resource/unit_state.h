// SPDX-License-Identifier: Apache-2.0
#pragma once

// The enablement of units: systemd starts enabled units by itself.  The files of units, and the links that mask them,
// are entries of the file tree (file_entry.h).

#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "json/field_list.h"

namespace pintle::resource {

enum class Enablement {
  kEnabled,
  kDisabled,
  kPreset,  // The OS's preset applies, since the config has no setting for the unit.
};

struct UnitState {
  using Key = std::string;  // The name of a unit.

  struct State {
    Enablement enablement = Enablement::kPreset;

    static constexpr auto kFields = json::FieldList{json::Required{"enablement", &State::enablement}};
  };
};

// All symlinks by which systemd's configuration enables and aliases units, taken together.  To undo the enablement of
// units, the earlier links are put back.  The units' [Install] sections are not used for that, because they may have
// changed.  The key is empty, because a machine has only one such set of links.
struct UnitLinks {
  struct Key {
    static constexpr auto kFields = json::FieldList{};
  };

  struct State {
    std::map<std::string, std::string> targets;  // The targets of the links, by path.
    std::vector<std::string> empty_folders;      // The folders for such links (x.wants, x.requires) that are empty.

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
