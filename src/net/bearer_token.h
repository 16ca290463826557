// SPDX-License-Identifier: Apache-2.0
#pragma once

// The token of a request: "Authorization: Bearer TOKEN" (RFC 6750, section 2.1).

#include <optional>
#include <string_view>

#include "net/http_answer.h"

namespace pintle::net {

// Returns nullopt if the request has no such header, more than one, or one that is not of this form.
std::optional<std::string_view> BearerTokenOf(const IncomingRequest& request);

}  // namespace pintle::net
