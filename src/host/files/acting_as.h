// SPDX-License-Identifier: Apache-2.0
#pragma once

// While an ActingAs exists, the current thread accesses files as another user, without supplementary groups.  So the
// kernel refuses everything that this user may not do.

#include <fmt/core.h>
#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "base/result.h"
#include "base/root.h"

namespace pintle::host {

class ActingAs {
 public:
  // Returns an error if the thread would keep rights of its own.  The kernel ignores a user that the process's user
  // namespace does not have.  Only root acts as another user: a process of any other user has nothing to give up, and
  // goes on as itself.
  static Result<std::unique_ptr<const ActingAs>> Begin(const Owner& user) {
    std::unique_ptr<const ActingAs> acting(new ActingAs(user));
    if (::geteuid() != 0) return acting;
    if (GroupOfThread() == user.gid && UserOfThread() == user.uid && GroupsOfThread().empty()) return acting;
    return Error(ErrorKind::kSystem,
                 fmt::format("the kernel does not let root act as user {} with only the group {}; run the program in "
                             "a user namespace that has both and allows setgroups(2), such as the machine's own",
                             user.uid, user.gid));
  }
  ~ActingAs() {
    ::setfsuid(uid_);
    ::setfsgid(gid_);
    SetGroupsOfThread(groups_);
  }
  ActingAs(const ActingAs&) = delete;
  ActingAs& operator=(const ActingAs&) = delete;

 private:
  // Begin() checks the outcome of these calls, since setfsuid() and setfsgid() return no errors.
  explicit ActingAs(const Owner& user) : groups_(GroupsOfThread()) {
    SetGroupsOfThread({});
    gid_ = static_cast<gid_t>(::setfsgid(user.gid));
    uid_ = static_cast<uid_t>(::setfsuid(user.uid));
  }

  // No user has the ID -1, so these calls only return the present ID.
  static uid_t UserOfThread() { return static_cast<uid_t>(::setfsuid(static_cast<uid_t>(-1))); }
  static gid_t GroupOfThread() { return static_cast<gid_t>(::setfsgid(static_cast<gid_t>(-1))); }

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
