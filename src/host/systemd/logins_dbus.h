// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reports logins over SSH, which logind announces.
//
// The caller owns the bus connection and processes its messages, so that this class needs no loop of its own and never
// blocks.

#include <functional>
#include <memory>
#include <set>
#include <string>

#include "base/result.h"
#include "host/agent_dbus.h"

struct sd_bus;

namespace pintle::host {

class Logins {
 public:
  // Calls `on_login` once for each session that logind marks as remote or that sshd has opened: for the sessions that
  // exist at the beginning, and for each new one.
  explicit Logins(std::function<void(const AgentLogin&)> on_login);
  ~Logins();
  Logins(const Logins&) = delete;
  Logins& operator=(const Logins&) = delete;

  // Begins to watch logind over this connection.  Call it again for each new connection: sessions that were reported
  // already are not reported again.
  Result<> Follow(::sd_bus* bus);

 private:
  class Follower;

  std::function<void(const AgentLogin&)> on_login_;
  std::set<std::string> known_;  // The ids of all current sessions, including local ones.
  std::unique_ptr<Follower> follower_;
};

}  // namespace pintle::host
