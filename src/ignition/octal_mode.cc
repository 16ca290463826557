// SPDX-License-Identifier: Apache-2.0
#include "ignition/octal_mode.h"

namespace pintle::ignition {
namespace {

constexpr std::int64_t kHighestMode = 0777;
constexpr std::int64_t kLargestNumber = 777;

// Returns whether files commonly have this mode: the owner may read, the group may do no more than the owner, others no
// more than the group, and anyone who may write has all rights of the owner.
bool IsCommonMode(std::int64_t mode) {
  constexpr std::int64_t kRead = 4;
  constexpr std::int64_t kWrite = 2;
  if (mode > kHighestMode) return false;
  const std::int64_t owner = mode / 0100;
  const std::int64_t group = mode / 010 % 010;
  const std::int64_t others = mode % 010;
  const auto is_common = [&](std::int64_t rights, std::int64_t upper_limit) {
    return (rights & ~upper_limit) == 0 && ((rights & kWrite) == 0 || rights == owner);
  };
  return (owner & kRead) != 0 && is_common(group, owner) && is_common(others, group);
}

}  // namespace

std::optional<std::int64_t> MeantInOctal(std::int64_t mode) {
  if (mode < 0 || mode > kLargestNumber || IsCommonMode(mode)) return std::nullopt;
  const std::int64_t hundreds = mode / 100;
  const std::int64_t tens = mode / 10 % 10;
  const std::int64_t ones = mode % 10;
  if (hundreds > 7 || tens > 7 || ones > 7) return std::nullopt;
  const std::int64_t meant = hundreds * 0100 + tens * 010 + ones;
  return IsCommonMode(meant) ? std::optional(meant) : std::nullopt;
}

}  // namespace pintle::ignition
