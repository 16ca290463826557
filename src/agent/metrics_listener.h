// SPDX-License-Identifier: Apache-2.0
#pragma once

// Serves the metrics over HTTP to this machine: GET or HEAD of /metrics, and nothing else.
//
// The listener lives on the loop and never blocks.  A connection has one request and little time for it.  When the
// limit of connections is reached, further connections wait in the kernel's queue.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "agent/settings.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "event/loop.h"
#include "event/watches.h"

namespace pintle::agent {

class MetricsListener {
 public:
  struct Limits {
    std::size_t connections = 16;  // The number of connections at a time.
    std::size_t head = 8 << 10;    // The size of a request's head, in bytes.
    // A connection may last this long.
    std::chrono::milliseconds time = std::chrono::seconds(5);
    // If accepting fails, for example because there are no descriptors left, it is tried again after this time.
    std::chrono::milliseconds pause = std::chrono::seconds(1);
  };

  // `text` is called on the loop's thread, and returns the metrics of that moment.
  static Result<std::unique_ptr<MetricsListener>> Begin(event::Loop& loop, const ListenAddress& address,
                                                        std::function<std::string()> text, const Limits& limits);
  static Result<std::unique_ptr<MetricsListener>> Begin(event::Loop& loop, const ListenAddress& address,
                                                        std::function<std::string()> text) {
    return Begin(loop, address, std::move(text), Limits());
  }
  ~MetricsListener();
  MetricsListener(const MetricsListener&) = delete;
  MetricsListener& operator=(const MetricsListener&) = delete;

  // Returns the port that the socket has; the kernel has chosen it if the address has port 0.
  std::uint16_t port() const { return port_; }

 private:
  class Connection;

  MetricsListener(event::Loop& loop, UniqueFd socket, std::uint16_t port, std::function<std::string()> text,
                  const Limits& limits);

  void Accept();
  void AcceptLater();
  // Watches for clients if there may be another connection, and else stops watching.
  void AwaitClients();
  // Removes and destroys a connection that has ended.
  void Forget(const Connection* ended);

  event::Loop& loop_;
  const UniqueFd socket_;
  const std::uint16_t port_;
  const std::function<std::string()> text_;
  const Limits limits_;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::unique_ptr<event::FdWatch> arrivals_;
  event::Timer accept_again_;
};

}  // namespace pintle::agent
