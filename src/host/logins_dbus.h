// SPDX-License-Identifier: Apache-2.0
#pragma once

// Who logs in over SSH, as logind tells it.
//
// It follows on a connection that someone else has and serves, so that it needs no loop of its own, and blocks nobody.

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
  // `seen` is called for each session once: those that are there when following begins, and each new one.
  explicit Logins(std::function<void(const AgentLogin&)> seen);
  ~Logins();
  Logins(const Logins&) = delete;
  Logins& operator=(const Logins&) = delete;

  // Again for each new connection: sessions that were seen over an earlier one are known.
  Result<> Follow(::sd_bus* bus);

 private:
  class Following;

  std::function<void(const AgentLogin&)> seen_;
  std::set<std::string> known_;  // The sessions that there are, whoever has them.
  std::unique_ptr<Following> following_;
};

}  // namespace pintle::host
