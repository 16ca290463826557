// SPDX-License-Identifier: Apache-2.0
#include "net/bearer_token.h"

#include <algorithm>

#include "base/ascii.h"

namespace pintle::net {
namespace {

constexpr std::string_view kScheme = "Bearer ";

bool IsBearerCharacter(char c) {
  return IsLetterOrDigit(c) || std::string_view("-._~+/").find(c) != std::string_view::npos;
}

// A token may end with the padding of base64.
bool IsBearerToken(std::string_view text) {
  while (text.ends_with('=')) text.remove_suffix(1);
  return !text.empty() && std::all_of(text.begin(), text.end(), IsBearerCharacter);
}

}  // namespace

std::optional<std::string_view> BearerTokenOf(const IncomingRequest& request) {
  std::optional<std::string_view> value;
  for (const IncomingRequest::Field& field : request.headers) {
    if (!SameIgnoringCase(field.name, "Authorization")) continue;
    // If there are two headers, a proxy may have checked the other one.
    if (value) return std::nullopt;
    value = field.value;
  }
  if (!value || !SameIgnoringCase(value->substr(0, kScheme.size()), kScheme)) return std::nullopt;
  value->remove_prefix(kScheme.size());
  while (value->starts_with(' ')) value->remove_prefix(1);
  return IsBearerToken(*value) ? value : std::nullopt;
}

}  // namespace pintle::net
