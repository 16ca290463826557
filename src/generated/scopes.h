// SPDX-License-Identifier: Apache-2.0
#pragma once

// The scope of a rule about images: a registry, a part of one, or all registries below a domain ("*.example.test").

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace pintle::generated {

inline bool IsWildcard(std::string_view scope) { return scope.starts_with("*."); }

// Returns whether everything in `inner` is also in `outer`.
bool IsInside(std::string_view inner, std::string_view outer);

// Returns whether everything in `inner` is in one of the scopes.
bool IsInsideOneOf(std::string_view inner, std::span<const std::string> scopes);

// Returns whether an administrator may allow or block this scope.  The only valid asterisk is that of a wildcard, which
// has no path and no port.
bool IsValidScope(std::string_view scope);

// Checks that all scopes are valid.  `list_name` is the name of their list, such as "blocked".  The error has the words
// of the Machine Config Operator.
Result<> CheckScopes(std::string_view list_name, std::span<const std::string> scopes);

// Returns where a mirror of `outer` has the images of `inner`, which is inside `outer`.
std::string PlaceInMirror(std::string_view mirror, std::string_view outer, std::string_view inner);

}  // namespace pintle::generated
