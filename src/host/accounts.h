// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds users and groups of a machine in the files below its root.
//
// /etc/passwd and /etc/group are searched first, and then the image's /usr/lib/passwd and /usr/lib/group.  On a machine
// that was booted by OSTree, the C library searches the same files, by nss-altfiles.

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

// Return nullopt if there is no user or group of this name.
Result<std::optional<Account>> FindUser(const Root& root, const std::string& name);
Result<std::optional<gid_t>> FindGroup(const Root& root, const std::string& name);

}  // namespace pintle::host
