// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reports logins over SSH, which logind announces.
//
// It uses a connection that someone else owns and serves, so that it needs no loop of its own and never blocks.

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
  // Calls `seen` once for each session, both for those that exist at the beginning and for each new one.
  explicit Logins(std::function<void(const AgentLogin&)> seen);
  ~Logins();
  Logins(const Logins&) = delete;
  Logins& operator=(const Logins&) = delete;

  // To be called again for each new connection; it does not repeat the sessions that were seen over an earlier one.
  Result<> Follow(::sd_bus* bus);

 private:
  class Follower;

  std::function<void(const AgentLogin&)> seen_;
  std::set<std::string> known_;  // All current sessions, local ones included.
  std::unique_ptr<Follower> follower_;
};

}  // namespace pintle::host
