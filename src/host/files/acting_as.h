// SPDX-License-Identifier: Apache-2.0
#pragma once

// While an ActingAs exists, the current thread accesses files as another user, without supplementary groups.  So the
// kernel refuses everything that this user may not do.

#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/root.h"

namespace pintle::host {

class ActingAs {
 public:
  explicit ActingAs(const Owner& user) : groups_(GroupsOfThread()) {
    SetGroupsOfThread({});
    gid_ = static_cast<gid_t>(::setfsgid(user.gid));
    uid_ = static_cast<uid_t>(::setfsuid(user.uid));
  }
  ~ActingAs() {
    ::setfsuid(uid_);
    ::setfsgid(gid_);
    SetGroupsOfThread(groups_);
  }
  ActingAs(const ActingAs&) = delete;
  ActingAs& operator=(const ActingAs&) = delete;

 private:
  static std::vector<gid_t> GroupsOfThread() {
    std::vector<gid_t> groups(static_cast<std::size_t>(std::max(0, ::getgroups(0, nullptr))));
    groups.resize(static_cast<std::size_t>(std::max(0, ::getgroups(static_cast<int>(groups.size()), groups.data()))));
    return groups;
  }
  // setgroups() of the C library would change the groups of all threads.
  static void SetGroupsOfThread(const std::vector<gid_t>& groups) {
    ::syscall(SYS_setgroups, groups.size(), groups.data());
  }

  std::vector<gid_t> groups_;
  uid_t uid_;
  gid_t gid_;
};

}  // namespace pintle::host
