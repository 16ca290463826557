// SPDX-License-Identifier: Apache-2.0
#pragma once

// The agent's face on the system bus: host/agent_dbus.h has what there is to see.
//
// The agent works without a bus as well as with one.  While there is none, or it is being restarted, this tries again
// for as long as it lives, and then has its name and shows its properties as before.
//
// Anyone may look.  Orders are taken from root, and from whom polkit allows them; without polkit, from root alone.

#include <functional>
#include <memory>

#include "base/result.h"
#include "event/loop.h"
#include "event/watches.h"
#include "host/agent_dbus.h"
#include "host/logins_dbus.h"
#include "kube/backoff.h"

namespace pintle::agent {

class Bus {
 public:
  // Called on the loop's thread.  An order's error is told to whoever gave it.  None of these may destroy the Bus.
  struct Handlers {
    std::function<Result<>()> check;
    std::function<Result<>()> retry;
    std::function<Result<>()> pause;
    std::function<Result<>()> resume;
    // Someone has logged in over SSH, or was logged in when the agent started.  If this is empty, nobody looks.
    std::function<void(const host::AgentLogin&)> logged_in;
  };

  Bus(pintle::event::Loop& loop, Handlers handlers);
  ~Bus();
  Bus(const Bus&) = delete;
  Bus& operator=(const Bus&) = delete;

  // What is to be seen from now on.  Whoever watches is told of what differs.  The logins are not taken from it: this
  // knows them itself.
  void Show(host::AgentStatus status);

  const host::AgentStatus& shown() const { return status_; }

 private:
  class Connection;

  void Connect();
  void OnTheBus();
  void Lost(const Error& why);
  void Seen(const host::AgentLogin& login);
  void Replace(host::AgentStatus status);
  const std::function<Result<>()>& HandlerOf(host::AgentOrder order) const;

  pintle::event::Loop& loop_;
  const Handlers handlers_;
  host::AgentStatus status_;
  bool is_loss_told_ = false;
  kube::Backoff backoff_;
  pintle::event::Timer retry_;
  host::Logins logins_;
  std::unique_ptr<Connection> connection_;
};

}  // namespace pintle::agent
