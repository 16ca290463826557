// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a rule about images is for: a registry, a part of one, or all registries below a domain ("*.example.test").

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace pintle::generated {

inline bool IsWildcard(std::string_view scope) { return scope.starts_with("*."); }

// Whether everything in `inner` is in `outer`, too.
bool IsInside(std::string_view inner, std::string_view outer);

// Whether an administrator may allow or block it: it has no asterisk but that of a wildcard, which has no path or port.
bool IsValidScope(std::string_view scope);

// That all are; `what` are they, such as "blocked".  The error is that of the Machine Config Operator.
Result<> CheckScopes(std::string_view what, std::span<const std::string> scopes);

// Where the images of `inner`, which is inside of `outer`, are in a mirror of `outer`.
std::string InMirror(std::string_view mirror, std::string_view outer, std::string_view inner);

}  // namespace pintle::generated
