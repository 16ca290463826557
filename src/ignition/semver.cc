// SPDX-License-Identifier: Apache-2.0
#include "ignition/semver.h"

#include <algorithm>
#include <charconv>

#include "base/ascii.h"

namespace pintle::ignition {
namespace {

// Cuts `text` off at the first `separator`, and returns the part behind the separator.
std::string_view TakeBehind(std::string_view& text, char separator) {
  const std::size_t at = std::min(text.find(separator), text.size());
  const std::string_view behind = text.substr(std::min(at + 1, text.size()));
  text = text.substr(0, at);
  return behind;
}

bool IsIdentifier(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return IsLetterOrDigit(c) || c == '-' || c == '.'; });
}

}  // namespace

std::optional<Semver> ParseSemver(std::string_view text) {
  Semver version;
  const std::string_view metadata = TakeBehind(text, '+');
  const std::string_view prerelease = TakeBehind(text, '-');
  if (!IsIdentifier(metadata) || !IsIdentifier(prerelease)) return std::nullopt;
  version.is_release = metadata.empty() && prerelease.empty();
  for (std::int64_t* part : {&version.major, &version.minor, &version.patch}) {
    const std::size_t dot = text.find('.');
    const std::string_view digits = text.substr(0, dot);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), *part);
    const bool is_last = part == &version.patch;
    if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
    if (is_last != (dot == std::string_view::npos)) return std::nullopt;
    text.remove_prefix(is_last ? text.size() : dot + 1);
  }
  return version;
}

}  // namespace pintle::ignition
