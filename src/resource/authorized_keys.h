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
    // The text of the file if it has more than each key on a line of its own, so that it can be put back as it was.
    std::optional<std::string> text;
    // If there is no file, the number of its parent folders that exist all the same.
    std::optional<std::int64_t> folders;
    // The next folder exists and belongs to someone else, so that its contents count for nothing.
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
