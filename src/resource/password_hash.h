// SPDX-License-Identifier: Apache-2.0
#pragma once

// The hash with which a user's password is compared.

#include <optional>
#include <string>
#include <string_view>

#include "json/field_list.h"

namespace pintle::resource {

struct PasswordHash {
  using Key = std::string;  // The name of a user.

  // No password has this hash, so none is accepted.
  static constexpr std::string_view kLocked = "*";

  struct State {
    std::string hash;
    // The day when the password was changed, counted from 1970 as in shadow(5).  Nullopt means today if
    // the hash changes, and otherwise the day that the user's entry already has.
    std::optional<std::string> last_change;

    static constexpr auto kFields = json::FieldList{
        json::Required{"hash", &State::hash},
        json::Field{"lastChange", &State::last_change},
    };
  };
};

}  // namespace pintle::resource
