// SPDX-License-Identifier: Apache-2.0
#pragma once

// The SSH keys that configs give a user for logging in.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "json/field_list.h"

namespace pintle::resource {

struct AuthorizedKeys {
  using Key = std::string;  // The name of a user.

  struct State {
    std::vector<std::string> keys;
    // The whole text of the file, so that the file can be restored exactly.  Nullopt if the file has just the keys,
    // each on a line of its own.
    std::optional<std::string> text;
    // Set if the file does not exist: how many of the folders between the user's home and the file exist and belong to
    // the user.
    std::optional<std::int64_t> folders;
    // Set if the folder after these exists, but belongs to another user.  That folder is not read.
    bool belongs_to_other_user = false;

    static constexpr auto kFields = json::FieldList{
        json::Required{"keys", &State::keys},
        json::Field{"text", &State::text},
        json::Field{"folders", &State::folders},
        json::Field{"isOfAnother", &State::belongs_to_other_user},
    };
  };
};

}  // namespace pintle::resource
