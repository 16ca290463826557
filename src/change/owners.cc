// SPDX-License-Identifier: Apache-2.0
#include "change/owners.h"

#include <fmt/core.h>

#include "host/accounts.h"

namespace pintle::change {

Result<> ResolveOwners(const Root& root, host::FilePut& file) {
  if (!file.want) return {};
  const auto unknown = [&](const char* what, const std::string& name) {
    return Error(ErrorKind::kNotFound, fmt::format("failed to retrieve file ownership for file \"{}\": this machine "
                                                   "has no {} named \"{}\"; make it, or name its number",
                                                   file.key, what, name));
  };
  resource::Owner& user = file.want->user;
  if (!user.name.empty()) {
    const auto account = TRY(host::FindUser(root, user.name));
    if (!account) return unknown("user", user.name);
    user.id = account->uid;
  }
  resource::Owner& group = file.want->group;
  if (!group.name.empty()) {
    const auto id = TRY(host::FindGroup(root, group.name));
    if (!id) return unknown("group", group.name);
    group.id = *id;
  }
  return {};
}

}  // namespace pintle::change
