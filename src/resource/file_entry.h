// SPDX-License-Identifier: Apache-2.0
#pragma once

// An entry of the file tree: a regular file, a directory or a symlink.

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "json/field_list.h"

namespace pintle::resource {

enum class EntryKind { kFile, kDirectory, kLink };

// The user or the group that an entry belongs to.  A config may give the name; when a change is staged, the name is
// replaced by the id on this machine.
struct UserOrGroup {
  std::int64_t id = 0;
  std::string name;  // Empty if the id alone identifies the user or group.

  static constexpr auto kFields =
      json::FieldList{json::Required{"id", &UserOrGroup::id}, json::Field{"name", &UserOrGroup::name}};
};

struct FileEntry {
  using Key = std::string;  // An absolute path.

  struct State {
    EntryKind kind = EntryKind::kFile;
    std::string sha256;  // The digest of a file's contents.  The blob store has the contents under this digest.
    std::string target;  // The target of a symlink.
    std::int64_t permissions = 0;
    UserOrGroup user;
    UserOrGroup group;
    // Extended attributes by name, with their values in base64.  With nullopt, a new entry gets the SELinux label that
    // the policy has for its path.  If the new entry replaces one of the same kind, it takes over the old entry's other
    // attributes, except for those named security.*.
    std::optional<std::map<std::string, std::string>> attributes;

    static constexpr auto kFields = json::FieldList{
        json::Required{"kind", &State::kind},
        json::Field{"sha256", &State::sha256},
        json::Field{"target", &State::target},
        json::Field{"permissions", &State::permissions},
        json::Field{"user", &State::user},
        json::Field{"group", &State::group},
        json::Field{"attributes", &State::attributes},
    };
  };
};

}  // namespace pintle::resource

namespace pintle::json {

template <>
inline constexpr auto kNames<resource::EntryKind> = std::array{
    std::pair{resource::EntryKind::kFile, "file"},
    std::pair{resource::EntryKind::kDirectory, "directory"},
    std::pair{resource::EntryKind::kLink, "link"},
};

}  // namespace pintle::json
