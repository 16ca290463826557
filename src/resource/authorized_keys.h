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
    // The whole text of the file, unless it has just the keys, each on a line of its own.  With it, the file can be
    // restored exactly.
    std::optional<std::string> text;
    // If there is no file, the number of its parent folders that exist all the same.
    std::optional<std::int64_t> folders;
    // The next folder exists and belongs to someone else, so its contents are ignored.
    bool is_of_another = false;

    static constexpr auto kFields = json::FieldList{
        json::Required{"keys", &State::keys},
        json::Field{"text", &State::text},
        json::Field{"folders", &State::folders},
        json::Field{"isOfAnother", &State::is_of_another},
    };
  };
};

}  // namespace pintle::resource
