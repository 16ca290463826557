// SPDX-License-Identifier: Apache-2.0
#pragma once

// An HTTP/1.1 server with persistent connections, with or without TLS, on threads of its own.
//
//     auto server = TRY(HttpServer::Begin({.listen = address, .identity = identity}, handler));
//     server->SetHandler(another);   // From the next request on, on all connections.
//     server->SetIdentity(renewed);  // From the next connection on.
//
// Several of these threads may call the handler at the same time.  The handler must return without waiting: it looks
// things up in immutable data, or it returns a LaterAnswer.  While a client waits for a later answer, its next requests
// on the connection also wait.  A client that closes its sending side meanwhile gets no answer.  The handler gets the
// head of a request.  The body of a request is not read; after a request with a body, the connection is closed.  If a
// client's data is not HTTP, is too long or comes too slowly, the server answers with an error or closes the
// connection.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "net/http_answer.h"
#include "net/listen_address.h"
#include "net/rate_limit.h"
#include "net/tls_identity.h"

namespace pintle::net {

class HttpServerState;

struct HttpServerLimits {
  // The maximum number at a time; further connections wait in the kernel's queue.  A server never takes more
  // connections than ConnectionsWithin() allows.
  std::size_t connections = 4'096;
  // The maximum number from one client, as ClientKeyOf() defines it; further connections are closed at once.  0 means
  // no limit.
  std::size_t connections_per_address = 0;
  std::size_t head = 16 << 10;  // The maximum size of a request's head in bytes.
  // The maximum number of the fields in a head.  A field of a few bytes takes much more memory than in the request.
  std::size_t fields = 100;
  // The time for a head.  For the first request of a connection, it begins with the connection; for a later request, it
  // begins with the first byte of the request.
  std::chrono::milliseconds head_time = std::chrono::seconds(10);
  // The time without a byte between two requests.
  std::chrono::milliseconds idle_time = std::chrono::seconds(60);
  // An answer may take this time plus its length divided by `bytes_per_second`.
  std::chrono::milliseconds answer_time = std::chrono::seconds(30);
  std::size_t bytes_per_second = 16 << 10;
  // A stream without a new piece ends after this time, so that clients that are gone do not stay connected.
  std::chrono::milliseconds stream_idle_time = std::chrono::minutes(2);
  // A later answer that has not come after this time is replaced by status 503.
  std::chrono::milliseconds later_answer_time = std::chrono::seconds(30);
  // The maximum number of later answers for one client, as ClientKeyOf() defines it; a request that would need one more
  // gets status 503.  An answer counts until it is completed or destroyed, even when its client has left, because its
  // owner may keep the request for so long.
  std::size_t later_answers_per_address = 64;
  // The time for requests that are under way when the server stops.
  std::chrono::milliseconds stop_time = std::chrono::seconds(5);
  Rate rate = {};  // Limits requests from one client, as ClientKeyOf() defines it; further ones get status 503.
};

// Returns how many of the `wanted` connections a server may take in a program that may have this number of open
// descriptors.  The servers of one program take at most three quarters of them together, so that the program can always
// open files and connect to others.
std::size_t ConnectionsWithin(std::size_t wanted, std::uint64_t descriptors);

struct HttpServerSettings {
  ListenAddress listen;
  std::shared_ptr<const TlsIdentity> identity = nullptr;  // Null for plain HTTP.
  int threads = 1;
  HttpServerLimits limits = {};
};

class HttpServer {
 public:
  // Also raises the program's soft limit of open descriptors (RLIMIT_NOFILE) to the hard limit, because the usual soft
  // limit of 1,024 is too low for many connections.
  static Result<std::unique_ptr<HttpServer>> Begin(const HttpServerSettings& settings, HttpHandler handler);

  // Accepts no more connections, and waits until the answers under way have ended, but no longer than `stop_time`.
  // Clients that wait for a later answer get status 503.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Replaces the handler from the next request on.  The old one lives until its last answer is made.
  void SetHandler(HttpHandler handler);
  // Replaces the certificate for later connections.  A server without TLS stays without it.
  void SetIdentity(std::shared_ptr<const TlsIdentity> identity);

  // Returns the address, with the port that the kernel chose if port 0 was given.
  const ListenAddress& address() const { return address_; }
  // Returns the current number of connections.
  std::size_t connections() const;

 private:
  class Thread;
  class Listener;

  HttpServer(const HttpServerSettings& settings, HttpHandler handler);

  Result<> MakeThreads(int count);
  Thread& NextThread();
  void RemoveConnection(const std::string& client_key);

  const std::unique_ptr<HttpServerState> state_;
  std::vector<std::unique_ptr<Thread>> threads_;  // The first thread also runs the listener.
  std::size_t next_thread_ = 0;                   // Used by the listener only.
  std::unique_ptr<Listener> listener_;
  ListenAddress address_;
};

}  // namespace pintle::net
