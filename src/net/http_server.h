// SPDX-License-Identifier: Apache-2.0
#pragma once

// An HTTP server: HTTP/1.1 with connections that are kept, over TLS or plainly, on threads of its own.
//
//     auto server = TRY(HttpServer::Begin({.listen = address, .identity = identity}, Shared(handler)));
//     server->Handle(another);       // From the next request on, on all connections.
//     server->Present(renewed);      // From the next connection on.
//
// The handler is called on those threads, by several at a time, and answers at once: it is to look things up in what
// does not change.  It sees the head of a request; a body that comes with it is not read, and the connection is closed
// behind the answer.  What is no HTTP, or too much of it, or too slow, the server answers or ends by itself.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/result.h"
#include "net/http_answer.h"
#include "net/listen_address.h"
#include "net/rate_limit.h"
#include "net/tls_identity.h"

namespace pintle::net {

struct HttpServerLimits {
  std::size_t connections = 4'096;  // At a time; others wait in the kernel's queue.
  // Of these from one address; more are closed at once.  0: any number.
  std::size_t connections_per_address = 0;
  std::size_t head = 16 << 10;  // Of a request, in bytes.
  // From the connection, or from the first byte, to the end of a head.
  std::chrono::milliseconds head_time = std::chrono::seconds(10);
  // Without a byte, between two requests.
  std::chrono::milliseconds idle_time = std::chrono::seconds(60);
  // An answer has this and as long as its length takes at that pace.
  std::chrono::milliseconds answer_time = std::chrono::seconds(30);
  std::size_t bytes_per_second = 16 << 10;
  // For what is under way when the server is to stop.
  std::chrono::milliseconds stop_time = std::chrono::seconds(5);
  Rate rate = {};  // Of requests from one address; more are answered with 503.
  // What counts as one address, AskerAt() of rate_limit.h says.
};

struct HttpServerSettings {
  ListenAddress listen;
  std::shared_ptr<const TlsIdentity> identity = nullptr;  // None: plain HTTP.
  int threads = 1;
  HttpServerLimits limits = {};
};

class HttpServer {
 public:
  static Result<std::unique_ptr<HttpServer>> Begin(const HttpServerSettings& settings, HttpHandler handler);

  // Takes no more connections, lets answers end that are under way, and waits for that.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Another handler from the next request on.  That of a request lives until its answer is made.
  void Handle(HttpHandler handler);
  // Another certificate for the next connections.  A server that is plain stays so.
  void Present(std::shared_ptr<const TlsIdentity> identity);

  // With the port that the kernel chose, if it was asked for port 0.
  const ListenAddress& address() const;
  // At this moment.
  std::size_t connections() const;

 private:
  class Shared;
  class Connection;
  class Thread;
  class Door;

  explicit HttpServer(std::unique_ptr<Shared> shared);

  std::unique_ptr<Shared> shared_;
};

}  // namespace pintle::net
