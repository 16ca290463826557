// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a user's password is compared with.

#include <optional>
#include <string>
#include <string_view>

#include "json/fields.h"

namespace pintle::resource {

struct PasswordHash {
  using Key = std::string;  // The name of a user.

  // No password has this hash, so that none is taken.
  static constexpr std::string_view kLocked = "*";

  struct State {
    std::string hash;
    // When the password was changed, in days since 1970, as shadow(5) has it.  None: when this is put, if that changes
    // the hash.
    std::optional<std::string> last_change;

    static constexpr auto kFields = json::FieldList{
        json::Required{"hash", &State::hash},
        json::Field{"lastChange", &State::last_change},
    };
  };
};

}  // namespace pintle::resource
