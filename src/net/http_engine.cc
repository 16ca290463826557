// SPDX-License-Identifier: Apache-2.0
#include "net/http_engine.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <csignal>
#include <string>
#include <utility>

#include "net/http_exchange.h"

namespace pintle::net {
namespace {

using std::chrono::milliseconds;

// Blocks SIGPIPE for this thread, because OpenSSL's writes to a closed connection raise it.  curl itself guards only
// some of its calls, by changing the signal's action for all threads.
class SigpipeBlocker {
 public:
  SigpipeBlocker() {
    ::sigemptyset(&sigpipe_);
    ::sigaddset(&sigpipe_, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &sigpipe_, &before_);
  }
  ~SigpipeBlocker() {
    const timespec at_once = {};
    if (::sigismember(&before_, SIGPIPE) == 0) ::sigtimedwait(&sigpipe_, nullptr, &at_once);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  SigpipeBlocker(const SigpipeBlocker&) = delete;
  SigpipeBlocker& operator=(const SigpipeBlocker&) = delete;

 private:
  sigset_t sigpipe_;
  sigset_t before_;
};

// Returns 0 if the socket is not connected by TCP.
long LocalPort(curl_socket_t socket) {
  sockaddr_storage address = {};
  socklen_t length = sizeof(address);
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &length) != 0) return 0;
  if (address.ss_family == AF_INET) return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
  if (address.ss_family == AF_INET6) return ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
  return 0;
}

}  // namespace

HttpCall::Engine::Engine(event::Loop& loop, HttpClient::Settings settings)
    : loop_(loop),
      settings_(std::move(settings)),
      timer_(
          loop,
          [this] {
            const auto alive = shared_from_this();
            Act(CURL_SOCKET_TIMEOUT, 0);
          },
          milliseconds(1)) {}

HttpCall::Engine::~Engine() {
  const SigpipeBlocker sigpipe_blocker;
  multi_.reset();  // curl closes its connections here, and calls back to remove watches and the timer.
}

Result<> HttpCall::Engine::Open() {
  const CurlLibrary& curl = *TRY(LoadCurl());
  static const CURLcode initialised = curl.global_init(CURL_GLOBAL_DEFAULT);
  if (initialised != CURLE_OK) return Error(ErrorKind::kSystem, curl.easy_strerror(initialised));
  multi_.reset(curl.multi_init());
  if (!multi_) return Error(ErrorKind::kSystem, "curl_multi_init failed");
  Set(multi_.get(), CURLMOPT_SOCKETFUNCTION, &Engine::WatchSocket);
  Set(multi_.get(), CURLMOPT_SOCKETDATA, this);
  Set(multi_.get(), CURLMOPT_TIMERFUNCTION, &Engine::SetTimer);
  Set(multi_.get(), CURLMOPT_TIMERDATA, this);
  Set(multi_.get(), CURLMOPT_PIPELINING, static_cast<long>(CURLPIPE_MULTIPLEX));
  return {};
}

void HttpCall::Engine::Add(const std::shared_ptr<Exchange>& exchange) {
  exchanges_.insert(exchange);
  loop_.Post([weak = std::weak_ptr(exchange)] {
    if (const auto alive = weak.lock()) alive->Begin();
  });
}

void HttpCall::Engine::CancelAll() {
  const auto exchanges = exchanges_;
  for (const auto& exchange : exchanges) exchange->Cancel();
}

Result<> HttpCall::Engine::AddToCurl(Exchange& exchange) {
  const CURLMcode added = Curl().multi_add_handle(multi_.get(), exchange.easy());
  if (added != CURLM_OK) return Error(ErrorKind::kSystem, Curl().multi_strerror(added));
  return {};
}

void HttpCall::Engine::RemoveFromCurl(Exchange& exchange) {
  if (exchange.easy() == nullptr) return;
  const SigpipeBlocker sigpipe_blocker;
  Curl().multi_remove_handle(multi_.get(), exchange.easy());
}

void HttpCall::Engine::Forget(Exchange& exchange) {
  const auto alive = exchange.shared_from_this();
  exchanges_.erase(alive);
  if (in_curl_) return to_remove_.push_back(alive);
  RemoveFromCurl(exchange);
}

void HttpCall::Engine::Unpause(Exchange& exchange) {
  // This makes curl pass on the data that it has kept.
  CallCurl([&] { Curl().easy_pause(exchange.easy(), CURLPAUSE_CONT); });
}

void HttpCall::Engine::GiveUpConnection(const Exchange& exchange, MonotonicTime silent_since) {
  if (exchange.easy() == nullptr) return;
  // curl reveals the socket of a request only after the request has ended.
  const auto port = Get<long>(exchange.easy(), CURLINFO_LOCAL_PORT);
  if (port == 0) return;
  for (const auto& [socket, watched] : watches_) {
    // curl notices the end of the connection and ends all requests on it.
    if (LocalPort(socket) == port && watched.last_read <= silent_since)
      static_cast<void>(::shutdown(socket, SHUT_RDWR));
  }
}

int HttpCall::Engine::WatchSocket(CURL* easy, curl_socket_t socket, int wanted, void* engine, void*) {
  auto& self = *static_cast<Engine*>(engine);
  if (wanted == CURL_POLL_REMOVE) {
    self.watches_.erase(socket);
  } else {
    self.Watch(easy, socket,
               {.readable = wanted == CURL_POLL_IN || wanted == CURL_POLL_INOUT,
                .writable = wanted == CURL_POLL_OUT || wanted == CURL_POLL_INOUT});
  }
  return 0;
}

void HttpCall::Engine::Watch(CURL* easy, curl_socket_t socket, event::FdReadiness wanted) {
  if (const auto watch = watches_.find(socket); watch != watches_.end()) {
    return watch->second.watch.WaitFor(wanted);
  }
  auto watch = event::FdWatch::Create(loop_, socket, wanted, [this, socket](event::FdReadiness ready) {
    const auto alive = shared_from_this();
    if (ready.readable) watches_.at(socket).last_read = std::chrono::steady_clock::now();
    Act(socket, (ready.readable ? CURL_CSELECT_IN : 0) | (ready.writable ? CURL_CSELECT_OUT : 0) |
                    (ready.broken ? CURL_CSELECT_ERR : 0));
  });
  if (watch) {
    watches_.emplace(socket, Watched{*std::move(watch), std::chrono::steady_clock::now()});
  } else if (auto* const exchange = Get<Exchange*>(easy, CURLINFO_PRIVATE)) {
    exchange->FailSoon(std::move(watch).error());
  }
}

int HttpCall::Engine::SetTimer(CURLM*, long timeout_ms, void* engine) {
  auto& self = *static_cast<Engine*>(engine);
  if (timeout_ms < 0) {
    self.timer_.Cancel();
  } else {
    self.timer_.After(milliseconds(timeout_ms));
  }
  return 0;
}

void HttpCall::Engine::Act(curl_socket_t socket, int events) {
  // The return value only reports misuse; the outcome of each request comes as a message.
  int running = 0;
  CallCurl([&] { Curl().multi_socket_action(multi_.get(), socket, events, &running); });
}

// Wraps calls of curl that may call receivers.
template <typename Call>
void HttpCall::Engine::CallCurl(Call call) {
  {
    const SigpipeBlocker sigpipe_blocker;
    in_curl_ = true;
    call();
    in_curl_ = false;
  }
  FinishTransfers();
}

void HttpCall::Engine::FinishTransfers() {
  for (const auto& exchange : std::exchange(to_remove_, {})) RemoveFromCurl(*exchange);
  int left = 0;
  while (const CURLMsg* const message = Curl().multi_info_read(multi_.get(), &left)) {
    const CURLcode code = message->data.result;
    Get<Exchange*>(message->easy_handle, CURLINFO_PRIVATE)->Done(code);
  }
}

Result<> HttpCall::Engine::SetTls(CURL* easy, const Url& url, bool with_client_certificate) {
  Set(easy, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  Set(easy, CURLOPT_PROXY_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  Set(easy, CURLOPT_SSL_VERIFYPEER, 1L);
  Set(easy, CURLOPT_SSL_VERIFYHOST, 2L);
  const TlsSettings& tls = settings_.tls;
  if (tls.authorities) {
    const auto doing = [&] { return "reading the CA certificates for " + url.HostAndPort(); };
    TRY(authorities_.Trust(easy, TRY(ReadPem(*tls.authorities), doing())), doing());
  } else {
    FollowSystemAuthorities(easy);
  }
  if (!tls.client || !with_client_certificate) return {};
  const auto doing = [&] { return "reading our client certificate for " + url.HostAndPort(); };
  std::string certificate = TRY(ReadPem(tls.client->certificate), doing());
  std::string key = TRY(ReadPem(tls.client->key), doing());
  SetBlob(easy, CURLOPT_SSLCERT_BLOB, certificate);
  SetBlob(easy, CURLOPT_SSLKEY_BLOB, key);
  // This makes a key with a password an error; otherwise OpenSSL would ask for the password on the terminal.
  Set(easy, CURLOPT_KEYPASSWD, "");
  return {};
}

}  // namespace pintle::net
