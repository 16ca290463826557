// SPDX-License-Identifier: Apache-2.0
#pragma once

// Offers the agent's interface on the system bus; host/agent_dbus.h has its properties, methods and signals.
//
// The agent also works without a bus.  When there is no bus, or when the connection was lost, this class keeps trying
// to connect.  After each connection it requests the bus name again, and clients can read the current properties.
//
// Anyone may read the properties.  Orders are method calls that make the agent do something (AgentOrder).  Root may
// give them, and so may users whom polkit allows to do so.  Without polkit, only root may.

#include <functional>
#include <memory>

#include "base/result.h"
#include "event/loop.h"
#include "event/watches.h"
#include "host/agent_dbus.h"
#include "host/systemd/logins_dbus.h"
#include "kube/backoff.h"

namespace pintle::agent {

class Bus {
 public:
  // These are called on the loop's thread.  The first four carry out an order, and the client that gave the order gets
  // the error.  None of these may destroy the Bus.
  struct Handlers {
    std::function<Result<>()> check;
    std::function<Result<>()> retry;
    std::function<Result<>()> pause;
    std::function<Result<>()> resume;
    // This is called for each login over SSH or from another machine, and at the start for each such session that
    // exists already.  If it is empty, logins are not followed.
    std::function<void(const host::AgentLogin&)> logged_in;
  };

  Bus(pintle::event::Loop& loop, Handlers handlers);
  ~Bus();
  Bus(const Bus&) = delete;
  Bus& operator=(const Bus&) = delete;

  // Publishes this status, and signals the properties that differ.  `status.logins` is ignored: the Bus follows the
  // logins itself.
  void Publish(host::AgentStatus status);

 private:
  class Connection;

  void Connect();
  void OnNameOwned();
  void OnLost(const Error& why);
  void AddLogin(const host::AgentLogin& login);
  void Replace(host::AgentStatus status);
  const std::function<Result<>()>& HandlerOf(host::AgentOrder order) const;

  pintle::event::Loop& loop_;
  const Handlers handlers_;
  host::AgentStatus status_;
  bool is_loss_logged_ = false;
  kube::Backoff backoff_;
  pintle::event::Timer retry_;
  host::Logins logins_;
  std::unique_ptr<Connection> connection_;
};

}  // namespace pintle::agent
