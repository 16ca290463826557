// SPDX-License-Identifier: Apache-2.0
#include "change/warnings.h"

#include <fmt/core.h>

#include "change/original_passwords.h"

namespace pintle::change {

bool RefersToOtherConfigs(const ignition::Config& config) {
  const auto& others = config.ignition.config;
  return !others.merge.empty() || others.replace.source.has_value();
}

std::vector<std::string> WarningsOf(const Root& root, const plan::ParsedConfig& from, const plan::ParsedConfig& to) {
  std::vector<std::string> warnings;
  if (RefersToOtherConfigs(to.ignition)) {
    warnings.push_back(fmt::format("ignition.config of {}: {}", to.object.metadata.name, kOtherConfigsAreNotFetched));
  }
  for (const std::string& user : UsersLockedBy(root, from, to)) {
    warnings.push_back(
        fmt::format("the change locks the user {}, since {} is damaged and the user's earlier password is lost; set "
                    "a new password with `passwd {}`",
                    user, kOriginalPasswords, user));
  }
  return warnings;
}

}  // namespace pintle::change
