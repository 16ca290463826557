// SPDX-License-Identifier: Apache-2.0
#pragma once

// An HTTP client for many concurrent requests, on the loop's thread.
//
// Connections are kept and shared: if a server offers HTTP/2, all requests to it use one connection.  A connection that
// stays silent while a request times out is closed, so that the next request can reach a live server.  Answers are
// passed on in pieces, so memory is needed only for the pieces that the receiver stores.  Any status is an answer; an
// error means that there was no complete answer, and has the kind kUnavailable if a retry makes sense.

#include <functional>
#include <memory>
#include <string_view>

#include "base/result.h"
#include "net/http_message.h"
#include "net/proxy_settings.h"
#include "net/tls_settings.h"

namespace pintle::event {
class Loop;
}  // namespace pintle::event

namespace pintle::net {

// Receives an answer: its head, its body in pieces, and its end.  The end may come at any time with an error.
struct HttpReceiver {
  std::function<void(const HttpHead& head)> head;
  std::function<void(std::string_view piece)> body;
  std::function<void(Result<> outcome)> end;
};

// A request under way.  Destroying this object cancels the request, even from within a callback; the receiver is not
// called afterwards.
class [[nodiscard]] HttpCall {
 public:
  HttpCall() = default;
  ~HttpCall();
  HttpCall(HttpCall&&) noexcept;
  HttpCall& operator=(HttpCall&&) noexcept;

  // Stops the calls for the body, and the timer for stalls, until Resume().  A pause slows down the server.
  void Pause();
  void Resume();

 private:
  friend class HttpClient;
  class Exchange;
  class Engine;
  explicit HttpCall(std::shared_ptr<Exchange> exchange);

  std::shared_ptr<Exchange> exchange_;
};

// The servers, or proxies, that a client connects to: all, or those whose address is not local (net/local_address.h).
enum class Peers { kAll, kRemote };

class HttpClient {
 public:
  struct Settings {
    TlsSettings tls = {};
    ProxySettings proxy = ProxySettings::FromEnvironment();
    Peers peers = Peers::kAll;
  };

  static Result<HttpClient> Create(event::Loop& loop, Settings settings);
  // Drops all requests under way without calling their receivers.
  ~HttpClient();
  HttpClient(HttpClient&&) noexcept;
  HttpClient& operator=(HttpClient&&) noexcept;

  // The receiver is called from the loop, never from within this call.
  HttpCall Start(HttpRequest request, HttpReceiver receiver);

  // Like Start(), but collects the whole answer.
  HttpCall Fetch(HttpRequest request, std::function<void(Result<HttpResponse>)> done);

  // Applies to later requests.  Only requests with the same client certificate and authorities share a connection.
  void UseTls(TlsSettings tls);

 private:
  explicit HttpClient(std::shared_ptr<HttpCall::Engine> engine);

  std::shared_ptr<HttpCall::Engine> engine_;
};

}  // namespace pintle::net
