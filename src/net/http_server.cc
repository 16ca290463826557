// SPDX-License-Identifier: Apache-2.0
#include "net/http_server.h"

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <thread>
#include <unordered_set>
#include <utility>

#include "base/thread.h"
#include "net/boost_asio.h"
#include "net/http_connection.h"
#include "net/http_server_state.h"

namespace pintle::net {
namespace {

// The pause after a failed accept(), for instance because there are no descriptors left.
constexpr auto kAcceptAgain = std::chrono::milliseconds(200);
// No program has more servers than this.
constexpr std::size_t kMostServers = 6;

// Formats an IPv4 address in the same way whether it came over an IPv4 or an IPv6 socket.
std::string AddressText(const asio::ip::address& address) {
  if (!address.is_v6() || !address.to_v6().is_v4_mapped()) return address.to_string();
  return asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6()).to_string();
}

// Returns how many descriptors the program may have open.
std::uint64_t AllowManyDescriptors() {
  rlimit limit = {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return std::numeric_limits<std::uint64_t>::max();
  const rlimit raised = {.rlim_cur = limit.rlim_max, .rlim_max = limit.rlim_max};
  if (::setrlimit(RLIMIT_NOFILE, &raised) == 0) return raised.rlim_cur;
  return limit.rlim_cur;
}

HttpServerLimits LimitsWithin(HttpServerLimits limits, std::uint64_t descriptors) {
  limits.connections = ConnectionsWithin(limits.connections, descriptors);
  return limits;
}

}  // namespace

std::size_t ConnectionsWithin(std::size_t wanted, std::uint64_t descriptors) {
  const std::uint64_t share = descriptors / 4 * 3 / kMostServers;
  return static_cast<std::size_t>(std::clamp<std::uint64_t>(share, 1, std::max<std::size_t>(wanted, 1)));
}

// A thread and the connections that it serves.
class HttpServer::Thread {
 public:
  // The timer makes the context open its descriptors here, where a failure can be handled.
  explicit Thread(HttpServer& server)
      : server_(server), busy_(asio::make_work_guard(context_)), finish_timer_(context_) {}

  Result<> Begin() {
    thread_ = TRY(StartThread([this] { context_.run(); }));
    return {};
  }
  asio::io_context& context() { return context_; }

  // Called on this thread.
  void Serve(tcp::socket socket, HttpConnection::Client client) {
    const auto connection =
        std::make_shared<HttpConnection>(*server_.state_, context_, std::move(socket), std::move(client),
                                         [this](HttpConnection& gone) { Forget(gone); });
    connections_.insert(connection.get());
    connection->Begin();
  }

  // Ends at once the connections that wait for a request, and all others after their answer or when the time is up.
  void FinishWithin(std::chrono::milliseconds patience) {
    asio::post(context_, [this, patience] {
      busy_.reset();
      for (auto* const connection : std::vector(connections_.begin(), connections_.end())) connection->PrepareToStop();
      if (connections_.empty()) return;
      is_finishing_ = true;
      finish_timer_.expires_after(patience);
      finish_timer_.async_wait([this](error_code) {
        is_finishing_ = false;
        context_.stop();
      });
    });
  }
  void Join() {
    if (thread_.joinable()) thread_.join();
  }

 private:
  void Forget(HttpConnection& gone) {
    connections_.erase(&gone);
    if (connections_.empty() && is_finishing_) finish_timer_.cancel();
    server_.RemoveConnection(gone.client().key);
  }

  HttpServer& server_;
  // These members outlive the context, whose destructor destroys the handlers that still wait in it.
  std::unordered_set<HttpConnection*> connections_;
  bool is_finishing_ = false;  // Whether the server is stopping and waits for the last answers.

  asio::io_context context_{1};
  asio::executor_work_guard<asio::io_context::executor_type> busy_;  // Keeps the context running without handlers.
  asio::steady_timer finish_timer_;
  std::thread thread_;
};

// Accepts connections, and hands them over to the threads in turn.
class HttpServer::Listener {
 public:
  Listener(HttpServer& server, asio::io_context& context) : server_(server), acceptor_(context), again_(context) {}

  Result<ListenAddress> Open(const ListenAddress& listen) {
    error_code failed;
    auto address = asio::ip::make_address(listen.address, failed);
    if (failed) return Error(ErrorKind::kInvalid, "not an IP address");
    acceptor_.open(tcp::endpoint(address, 0).protocol(), failed);
    if (failed == asio::error::address_family_not_supported && address.is_unspecified()) {
      address = asio::ip::address_v4::any();  // A machine without IPv6 has only IPv4 addresses.
      acceptor_.open(tcp::v4(), failed);
    }
    if (failed) return Error::FromErrno("socket", failed.value());
    // With this option, a restarted server does not have to wait for the connections of its predecessor.
    acceptor_.set_option(tcp::acceptor::reuse_address(true), failed);
    if (address.is_v6()) acceptor_.set_option(asio::ip::v6_only(false), failed);
    acceptor_.bind(tcp::endpoint(address, listen.port), failed);
    if (failed) return Error::FromErrno("bind", failed.value());
    acceptor_.listen(tcp::acceptor::max_listen_connections, failed);
    if (failed) return Error::FromErrno("listen", failed.value());
    return ListenAddress{address.to_string(), acceptor_.local_endpoint(failed).port()};
  }

  void Accept() {
    const HttpServerState& state = *server_.state_;
    if (state.is_stopping()) return;
    if (state.is_full()) {
      is_waiting_ = true;
      // A connection may have ended between the check and the store.
      if (state.is_full() || !is_waiting_.exchange(false)) return;
    }
    Thread& thread = server_.NextThread();
    acceptor_.async_accept(thread.context(), [this, &thread](error_code failed, tcp::socket socket) {
      if (failed == asio::error::operation_aborted) return;
      if (failed) return AcceptLater();
      HandOver(std::move(socket), thread);
      Accept();
    });
  }

  // Called from any thread when there is room for a connection again.
  void Wake() {
    if (is_waiting_.exchange(false)) asio::post(acceptor_.get_executor(), [this] { Accept(); });
  }

  void Close() {
    asio::post(acceptor_.get_executor(), [this] {
      error_code ignored;
      acceptor_.close(ignored);
      again_.cancel();
    });
  }

 private:
  void HandOver(tcp::socket socket, Thread& thread) {
    error_code failed;
    const tcp::endpoint peer = socket.remote_endpoint(failed);
    if (failed) return;  // The client is gone already.
    socket.non_blocking(true, failed);
    socket.set_option(tcp::no_delay(true), failed);
    const std::string address = AddressText(peer.address());
    HttpConnection::Client client = {.key = ClientKeyOf(address), .peer = ToText(ListenAddress{address, peer.port()})};
    if (!server_.state_->AddConnection(client.key)) return;
    asio::post(thread.context(), [&thread, taken = std::move(socket), client = std::move(client)]() mutable {
      thread.Serve(std::move(taken), std::move(client));
    });
  }

  void AcceptLater() {
    again_.expires_after(kAcceptAgain);
    again_.async_wait([this](error_code failed) {
      if (!failed) Accept();
    });
  }

  HttpServer& server_;
  tcp::acceptor acceptor_;
  asio::steady_timer again_;
  std::atomic<bool> is_waiting_ = false;
};

HttpServer::HttpServer(const HttpServerSettings& settings, HttpHandler handler)
    : state_(std::make_unique<HttpServerState>(LimitsWithin(settings.limits, AllowManyDescriptors()),
                                               std::move(handler), settings.identity)) {}

Result<std::unique_ptr<HttpServer>> HttpServer::Begin(const HttpServerSettings& settings, HttpHandler handler) {
  std::unique_ptr<HttpServer> server(new HttpServer(settings, std::move(handler)));
  // After an error here, the destructor cleans up.
  TRY(server->MakeThreads(settings.threads), "making an HTTP server");
  server->address_ = TRY(server->listener_->Open(settings.listen), "listening at " + ToText(settings.listen));
  // Signals are handled by other threads, and SIGPIPE from a client that is gone must not end the program.
  const AllSignalsBlocked blocked;
  for (const auto& thread : server->threads_) TRY(thread->Begin(), "making an HTTP server");
  asio::post(server->threads_.front()->context(), [listener = server->listener_.get()] { listener->Accept(); });
  return server;
}

HttpServer::~HttpServer() {
  state_->Stop();
  if (listener_) listener_->Close();
  for (const auto& thread : threads_) thread->FinishWithin(state_->limits().stop_time);
  for (const auto& thread : threads_) thread->Join();
  listener_.reset();
  // The first thread's context may still hold a socket for another thread.
  for (auto& thread : threads_) thread.reset();
}

Result<> HttpServer::MakeThreads(int count) {
  try {
    for (int i = 0; i < std::max(count, 1); ++i) threads_.push_back(std::make_unique<Thread>(*this));
    listener_ = std::make_unique<Listener>(*this, threads_.front()->context());
  } catch (const boost::system::system_error& failure) {
    return Error::FromErrno("epoll", failure.code().value());
  }
  return {};
}

HttpServer::Thread& HttpServer::NextThread() { return *threads_[next_thread_++ % threads_.size()]; }

void HttpServer::RemoveConnection(const std::string& client_key) {
  state_->RemoveConnection(client_key);
  if (listener_ && !state_->is_stopping()) listener_->Wake();
}

void HttpServer::SetHandler(HttpHandler handler) { state_->SetHandler(std::move(handler)); }
void HttpServer::SetIdentity(std::shared_ptr<const TlsIdentity> identity) { state_->SetIdentity(std::move(identity)); }
std::size_t HttpServer::connections() const { return state_->connections(); }

}  // namespace pintle::net
