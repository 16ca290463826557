// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a user's password is compared with.

#include <string>
#include <string_view>
#include <tuple>

#include "json/fields.h"

namespace pintle::resource {

struct PasswordHash {
  using Key = std::string;  // The name of a user.

  // No password has this hash, so that none is taken.
  static constexpr std::string_view kLocked = "*";

  struct State {
    std::string hash;

    static constexpr auto kFields = std::tuple{json::Required{"hash", &State::hash}};
  };
};

}  // namespace pintle::resource
