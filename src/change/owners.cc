// SPDX-License-Identifier: Apache-2.0
#include "change/owners.h"

#include <fmt/core.h>

#include "host/accounts.h"

namespace pintle::change {

Result<> Owners::Resolve(host::FilePut& file) {
  if (!file.want) return {};
  const auto unknown = [&](const char* kind, const std::string& name) {
    return Error(ErrorKind::kNotFound, fmt::format("failed to retrieve file ownership for file \"{}\": this machine "
                                                   "has no {} named \"{}\"; make the {}, or write its number instead",
                                                   file.key, kind, name, kind));
  };
  resource::UserOrGroup& user = file.want->user;
  if (!user.name.empty() && !users_.contains(user.name)) {
    const auto account = TRY(host::FindUser(root_, user.name));
    if (!account) return unknown("user", user.name);
    users_.emplace(user.name, account->uid);
  }
  if (!user.name.empty()) user.id = users_.at(user.name);
  resource::UserOrGroup& group = file.want->group;
  if (!group.name.empty() && !groups_.contains(group.name)) {
    const auto id = TRY(host::FindGroup(root_, group.name));
    if (!id) return unknown("group", group.name);
    groups_.emplace(group.name, *id);
  }
  if (!group.name.empty()) group.id = groups_.at(group.name);
  return {};
}

Result<> ResolveOwners(const Root& root, host::FilePut& file) { return Owners(root).Resolve(file); }

}  // namespace pintle::change
