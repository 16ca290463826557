// SPDX-License-Identifier: Apache-2.0
#pragma once

// Users and groups of a machine, as its own files name them.
//
// /etc/passwd and /etc/group come first.  What an OSTree image brings in /usr/lib/passwd and /usr/lib/group counts too,
// as it does for programs there (nss-altfiles).

#include <sys/types.h>

#include <optional>
#include <string>

#include "base/result.h"
#include "base/root.h"

namespace pintle::host {

struct Account {
  uid_t uid = 0;
  gid_t gid = 0;
  std::string home;
};

Result<std::optional<Account>> FindUser(const Root& root, const std::string& name);
Result<std::optional<gid_t>> FindGroup(const Root& root, const std::string& name);

}  // namespace pintle::host
