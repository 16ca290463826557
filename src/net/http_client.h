// SPDX-License-Identifier: Apache-2.0
#pragma once

// Asking HTTP servers, many at once, on the loop's thread.
//
// Connections are kept and shared: over HTTP/2, where the server offers it, all requests to it use one.  One that stays
// silent while a request waits in vain is closed, so that the next request finds a server that lives.  An answer is
// handed on as it comes, so that memory is needed only for what the receiver keeps.  Any status is an answer; an error
// means that there was no whole answer, and is of kind kUnavailable when trying again later is worth it.

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

// Who gets the answer: its head, then its body in pieces, then its end.  An error may come as the end at any time.
struct HttpReceiver {
  std::function<void(const HttpHead& head)> head;
  std::function<void(std::string_view piece)> body;
  std::function<void(Result<> outcome)> end;
};

// A request under way.  Destroying it cancels it, also from within what it calls; nothing is called after that.
class [[nodiscard]] HttpCall {
 public:
  HttpCall() = default;
  ~HttpCall();
  HttpCall(HttpCall&&) noexcept;
  HttpCall& operator=(HttpCall&&) noexcept;

  // No more of the body is called for, nor does the call stall, until it is resumed.  The server is slowed down.
  void Pause();
  void Resume();

 private:
  friend class HttpClient;
  class Exchange;
  class Engine;
  explicit HttpCall(std::shared_ptr<Exchange> exchange);

  std::shared_ptr<Exchange> exchange_;
};

class HttpClient {
 public:
  struct Settings {
    TlsSettings tls = {};
    ProxySettings proxy = ProxySettings::FromEnvironment();
  };

  static Result<HttpClient> Create(event::Loop& loop, Settings settings);
  // Drops all requests under way without a word.
  ~HttpClient();
  HttpClient(HttpClient&&) noexcept;
  HttpClient& operator=(HttpClient&&) noexcept;

  // The receiver is called from the loop, never from within this.
  HttpCall Start(HttpRequest request, HttpReceiver receiver);

  // The same for an answer that is wanted whole.
  HttpCall Fetch(HttpRequest request, std::function<void(Result<HttpResponse>)> done);

  // For requests from now on.  A connection is shared only by requests of the same client certificate and authorities.
  void UseTls(TlsSettings tls);

 private:
  explicit HttpClient(std::shared_ptr<HttpCall::Engine> engine);

  std::shared_ptr<HttpCall::Engine> engine_;
};

}  // namespace pintle::net
