// SPDX-License-Identifier: Apache-2.0
#pragma once

// The scope of a rule about images: a registry, a part of one, or all registries below a domain ("*.example.test").

#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace pintle::generated {

inline bool IsWildcard(std::string_view scope) { return scope.starts_with("*."); }

// Returns whether everything in `inner` is also in `outer`.
bool IsInside(std::string_view inner, std::string_view outer);

// Returns whether everything in `inner` is in one of the scopes.
bool IsInsideOneOf(std::string_view inner, std::span<const std::string> scopes);

// A set of scopes.  It finds those of its scopes that are around another scope, without comparing all of them.
class ScopeSet {
 public:
  ScopeSet() = default;
  explicit ScopeSet(std::span<const std::string> scopes) {
    for (const std::string& scope : scopes) Add(scope);
  }
  ScopeSet(const ScopeSet&) = delete;
  ScopeSet& operator=(const ScopeSet&) = delete;

  void Add(const std::string& scope);

  // Returns the scopes of the set for which IsInside(inner, scope) holds.  The views are valid as long as the set is.
  std::vector<std::string_view> Around(std::string_view inner) const;

 private:
  std::set<std::string, std::less<>> scopes_;
  std::set<std::string_view, std::less<>> domains_;  // The wildcards in `scopes_`, without the asterisk.
};

// Returns whether an administrator may allow or block this scope.  The only valid asterisk is that of a wildcard, which
// has no path and no port.
bool IsValidScope(std::string_view scope);

// Checks that all scopes are valid.  `list_name` is the name of their list, such as "blocked".  The error has the words
// of the Machine Config Operator.
Result<> CheckScopes(std::string_view list_name, std::span<const std::string> scopes);

// Returns where a mirror of `outer` has the images of `inner`, which is inside `outer`.
std::string PlaceInMirror(std::string_view mirror, std::string_view outer, std::string_view inner);

}  // namespace pintle::generated
