// SPDX-License-Identifier: Apache-2.0
#include "generated/scopes.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>

#include "gotext/quote.h"

namespace pintle::generated {
namespace {

// Returns the name before a port or a path, or "" if a colon comes after a slash.
std::string_view HostOf(std::string_view scope) {
  const std::size_t colon = scope.find(':');
  if (colon == std::string_view::npos) return scope.substr(0, scope.find('/'));
  const std::string_view host = scope.substr(0, colon);
  return host.find('/') == std::string_view::npos ? host : std::string_view();
}

}  // namespace

bool IsInside(std::string_view inner, std::string_view outer) {
  if (inner == outer) return true;
  if (inner.starts_with(outer) && inner.substr(outer.size()).starts_with('/')) return true;
  return IsWildcard(outer) && HostOf(inner).ends_with(outer.substr(1));
}

bool IsInsideOneOf(std::string_view inner, std::span<const std::string> scopes) {
  return std::any_of(scopes.begin(), scopes.end(), [&](const std::string& outer) { return IsInside(inner, outer); });
}

void ScopeSet::Add(const std::string& scope) {
  const auto [added, is_new] = scopes_.insert(scope);
  if (is_new && IsWildcard(*added)) domains_.insert(std::string_view(*added).substr(1));
}

std::vector<std::string_view> ScopeSet::Around(std::string_view inner) const {
  std::vector<std::string_view> around;
  for (std::size_t slash = inner.find('/'); slash != std::string_view::npos; slash = inner.find('/', slash + 1)) {
    if (const auto found = scopes_.find(inner.substr(0, slash)); found != scopes_.end()) around.push_back(*found);
  }
  if (const auto found = scopes_.find(inner); found != scopes_.end()) around.push_back(*found);
  const std::string_view host = HostOf(inner);
  for (std::size_t dot = host.find('.'); dot != std::string_view::npos; dot = host.find('.', dot + 1)) {
    const auto domain = domains_.find(host.substr(dot));
    if (domain == domains_.end()) continue;
    const std::string_view wildcard = *scopes_.find("*" + std::string(*domain));
    if (std::find(around.begin(), around.end(), wildcard) == around.end()) around.push_back(wildcard);
  }
  return around;
}

bool IsValidScope(std::string_view scope) {
  if (scope.empty()) return false;
  if (scope.find('*') == std::string_view::npos) return true;
  return IsWildcard(scope) && scope.find_first_of("/@:*", 2) == std::string_view::npos;
}

Result<> CheckScopes(std::string_view list_name, std::span<const std::string> scopes) {
  for (const std::string& scope : scopes) {
    if (IsValidScope(scope)) continue;
    return Error(ErrorKind::kInvalid,
                 fmt::format("invalid entry for {} registries {}", list_name, gotext::Quoted(scope)));
  }
  return {};
}

std::string PlaceInMirror(std::string_view mirror, std::string_view outer, std::string_view inner) {
  const std::size_t begin = IsWildcard(outer) ? std::min(inner.find('/'), inner.size()) : outer.size();
  return std::string(mirror) + std::string(inner.substr(begin));
}

}  // namespace pintle::generated
