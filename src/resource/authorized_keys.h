// SPDX-License-Identifier: Apache-2.0
#pragma once

// The SSH keys with which a user may log in, as far as configs give them.

#include <string>
#include <tuple>
#include <vector>

#include "json/fields.h"

namespace pintle::resource {

struct AuthorizedKeys {
  using Key = std::string;  // The name of a user.

  struct State {
    std::vector<std::string> keys;

    static constexpr auto kFields = std::tuple{json::Required{"keys", &State::keys}};
  };
};

}  // namespace pintle::resource
