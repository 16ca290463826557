// SPDX-License-Identifier: Apache-2.0
#pragma once

// The part of an HTTP server that its connections share: the limits, the handler, the TLS identity, and what is counted
// for each client.  All threads of the server use it at the same time.

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "net/http_answer.h"
#include "net/http_server.h"
#include "net/later_counter.h"
#include "net/rate_limit.h"
#include "net/tls_identity.h"

namespace pintle::net {

class HttpServerState {
 public:
  HttpServerState(const HttpServerLimits& limits, HttpHandler handler, std::shared_ptr<const TlsIdentity> identity);

  const HttpServerLimits& limits() const { return limits_; }
  std::shared_ptr<const HttpHandler> handler() const;
  std::shared_ptr<const TlsIdentity> identity() const;
  void SetHandler(HttpHandler handler);
  void SetIdentity(std::shared_ptr<const TlsIdentity> identity);

  // Records that the server is stopping: no connection begins any more, and no other request is read.
  void Stop() { is_stopping_ = true; }
  bool is_stopping() const { return is_stopping_; }

  // Clients are identified by the results of ClientKeyOf().
  //
  // Counts one more connection, or returns false if its client has too many.  RemoveConnection() has to be called at
  // the end of each connection that was counted.
  bool AddConnection(const std::string& client_key);
  void RemoveConnection(const std::string& client_key);
  std::size_t connections() const { return connections_; }
  bool is_full() const { return connections_ >= limits_.connections; }
  // Returns whether the rate of the client's requests allows one now, and counts the request if so.
  bool AllowsRequest(std::string_view client_key);
  // Counts one more request that waits for its LaterAnswer, or returns null if its client has too many of them.
  LaterCounter::Count AddLater(const std::string& client_key) const;

 private:
  const HttpServerLimits limits_;
  std::atomic<std::size_t> connections_ = 0;
  std::atomic<bool> is_stopping_ = false;
  const std::shared_ptr<LaterCounter> later_ = std::make_shared<LaterCounter>();

  mutable std::mutex mutex_;  // Guards the members below.
  std::shared_ptr<const HttpHandler> handler_;
  std::shared_ptr<const TlsIdentity> identity_;
  RateLimit rate_;
  std::unordered_map<std::string, std::size_t> connections_of_;
};

}  // namespace pintle::net
