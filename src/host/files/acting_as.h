// SPDX-License-Identifier: Apache-2.0
#pragma once

// While an ActingAs exists, the current thread accesses files as another user.  So the kernel refuses everything that
// this user may not do.

#include <sys/fsuid.h>
#include <unistd.h>

#include "base/root.h"

namespace pintle::host {

class ActingAs {
 public:
  explicit ActingAs(const Owner& user) {
    gid_ = static_cast<gid_t>(::setfsgid(user.gid));
    uid_ = static_cast<uid_t>(::setfsuid(user.uid));
  }
  ~ActingAs() {
    ::setfsuid(uid_);
    ::setfsgid(gid_);
  }
  ActingAs(const ActingAs&) = delete;
  ActingAs& operator=(const ActingAs&) = delete;

 private:
  uid_t uid_;
  gid_t gid_;
};

}  // namespace pintle::host
