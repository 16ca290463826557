// SPDX-License-Identifier: Apache-2.0
#pragma once

// The SSH keys with which a user may log in, as far as configs give them.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "json/fields.h"

namespace pintle::resource {

struct AuthorizedKeys {
  using Key = std::string;  // The name of a user.

  struct State {
    std::vector<std::string> keys;
    // What the file says, where it is not just each key on a line of its own: so that it can be put back as it was.
    std::optional<std::string> text;
    // Where there is no file: how many of the folders that it would be in are there all the same.
    std::optional<std::int64_t> folders;
    // Whether the next folder is there and belongs to someone else, so that what is in it counts for nothing.
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
