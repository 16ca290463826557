// SPDX-License-Identifier: Apache-2.0
#include "net/http_server.h"

#include <sys/resource.h>

// The thread sanitizer does not support fences; the locks of Boost's queues give enough order.
#ifdef __SANITIZE_THREAD__
#define BOOST_ASIO_DISABLE_FENCED_BLOCK 1
#endif

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/status.hpp>
#include <boost/system/system_error.hpp>
#include <iterator>
#include <limits>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/thread.h"
#include "net/later_counter.h"
#include "net/wire.h"

namespace pintle::net {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;
using tcp = asio::ip::tcp;
using std::chrono::milliseconds;
using Outcome = Wire::Outcome;
using Progress = Wire::Progress;

// The pause after a failed accept(), for instance because there are no descriptors left.
constexpr auto kAcceptAgain = std::chrono::milliseconds(200);
// The time that a client gets to read the last answer before the connection is closed.
constexpr auto kCloseTime = std::chrono::seconds(2);
// No program has more servers than this.
constexpr std::size_t kMostServers = 6;
using HeadParser = http::request_parser<http::empty_body>;

std::string_view View(boost::beast::string_view text) { return {text.data(), text.size()}; }

std::string_view ReasonOf(int status) { return View(http::obsolete_reason(static_cast<http::status>(status))); }

IncomingRequest RequestOf(const HeadParser::value_type& message, std::string_view peer) {
  IncomingRequest request = {View(message.method_string()), View(message.target()), peer, {}};
  for (const auto& field : message) request.headers.push_back({View(field.name_string()), View(field.value())});
  return request;
}

bool NamesItsHost(const HeadParser::value_type& message) {
  return message.version() == 10 || message.count(http::field::host) == 1;
}

// Formats an IPv4 address in the same way whether it came over an IPv4 or an IPv6 socket.
std::string AddressText(const asio::ip::address& address) {
  if (!address.is_v6() || !address.to_v6().is_v4_mapped()) return address.to_string();
  return asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6()).to_string();
}

// Since bodies are not read, a body could be taken for the next request.
bool HasBody(const HeadParser& parser) {
  return !parser.is_done() || parser.get().count(http::field::transfer_encoding) > 0;
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

// ---- what all threads share -----------------------------------------------------------------------------------------

class HttpServer::Shared {
 public:
  Shared(const HttpServerSettings& settings, HttpHandler handler)
      : limits_(LimitsWithin(settings.limits, AllowManyDescriptors())),
        handler_(std::make_shared<const HttpHandler>(std::move(handler))),
        identity_(settings.identity),
        rate_(settings.limits.rate) {}

  Result<> Begin(const HttpServerSettings& settings);
  void Stop();

  const HttpServerLimits& limits() const { return limits_; }
  const ListenAddress& address() const { return address_; }
  std::size_t connections() const { return connections_; }

  std::shared_ptr<const HttpHandler> handler() {
    const std::lock_guard lock(mutex_);
    return handler_;
  }
  std::shared_ptr<const TlsIdentity> identity() {
    const std::lock_guard lock(mutex_);
    return identity_;
  }
  void SetHandler(HttpHandler handler) {
    auto next = std::make_shared<const HttpHandler>(std::move(handler));
    const std::lock_guard lock(mutex_);
    handler_.swap(next);  // The old handler may be large; it is freed after the lock is released.
  }
  void SetIdentity(std::shared_ptr<const TlsIdentity> identity) {
    const std::lock_guard lock(mutex_);
    if (identity_ && identity) identity_.swap(identity);
  }
  bool Allows(std::string_view client_key) {
    if (limits_.rate.per_second <= 0) return true;
    const std::lock_guard lock(mutex_);
    return rate_.Allow(client_key, std::chrono::steady_clock::now());
  }

  // Counts one more connection, or returns false if its client has too many.  Each connection that was counted calls
  // RemoveConnection() in the end.
  bool AddConnection(const std::string& client_key);
  void RemoveConnection(const std::string& client_key);
  // Returns null if the client has too many later answers.
  LaterCounter::Count AddLater(const std::string& client_key) const {
    return later_->Add(client_key, limits_.later_answers_per_address);
  }
  bool is_full() const { return connections_ >= limits_.connections; }
  bool is_stopping() const { return stopping_; }
  Thread& NextThread() { return *threads_[next_++ % threads_.size()]; }

 private:
  Result<> MakeThreads(int count);

  const HttpServerLimits limits_;
  ListenAddress address_;
  std::vector<std::unique_ptr<Thread>> threads_;  // The first thread also runs the listener.
  std::unique_ptr<Listener> listener_;
  std::size_t next_ = 0;  // Used by the listener only.
  std::atomic<std::size_t> connections_ = 0;
  std::atomic<bool> stopping_ = false;
  const std::shared_ptr<LaterCounter> later_ = std::make_shared<LaterCounter>();

  std::mutex mutex_;  // Guards the members below.
  std::shared_ptr<const HttpHandler> handler_;
  std::shared_ptr<const TlsIdentity> identity_;
  RateLimit rate_;
  // The keys come from ClientKeyOf().
  std::unordered_map<std::string, std::size_t> connections_of_;
};

// A thread and the connections that it serves.
class HttpServer::Thread {
 public:
  // The timer makes the context open its descriptors here, where a failure can be handled.
  Thread() : busy_(asio::make_work_guard(context_)), finish_timer_(context_) {}

  Result<> Begin() {
    thread_ = TRY(StartThread([this] { context_.run(); }));
    return {};
  }
  asio::io_context& context() { return context_; }
  void Add(Connection* connection) { connections_.insert(connection); }
  void Remove(Connection* connection) {
    connections_.erase(connection);
    if (connections_.empty() && is_finishing_) finish_timer_.cancel();
  }
  void FinishWithin(milliseconds patience);
  void Join() {
    if (thread_.joinable()) thread_.join();
  }

 private:
  // These members outlive the context, whose destructor destroys the handlers that still wait in it.
  std::unordered_set<Connection*> connections_;
  bool is_finishing_ = false;  // The server is stopping and waits for the last answers.
  asio::io_context context_{1};
  asio::executor_work_guard<asio::io_context::executor_type> busy_;  // Keeps the context running without handlers.
  asio::steady_timer finish_timer_;
  std::thread thread_;
};

// ---- one connection -------------------------------------------------------------------------------------------------

// A connection of a client, which runs through a sequence of steps.  A step that would block is repeated when the
// socket is ready.  The handlers that wait for the socket own the connection; it is destroyed when no handler is left.
class HttpServer::Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Shared& server, Thread& thread, tcp::socket socket, std::string client_key, std::string peer)
      : server_(server),
        thread_(thread),
        socket_(std::move(socket)),
        client_key_(std::move(client_key)),
        peer_(std::move(peer)),
        identity_(server.identity()),
        wire_(socket_.native_handle(), identity_.get()),
        out_of_time_(thread.context()) {
    thread_.Add(this);
  }
  ~Connection() {
    ForgetLater();
    thread_.Remove(this);
    server_.RemoveConnection(client_key_);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void Begin() {
    if (server_.is_stopping()) return End();
    EndAfter(server_.limits().head_time);
    Advance();
  }

  // Called when the server stops: ends a connection that waits for a request, or that sends a stream, and answers one
  // that waits for a later answer.
  void PrepareToStop() {
    if (step_ == &Connection::AwaitLater) return ReplaceLater();
    const bool waits = step_ == &Connection::ReadHead || step_ == &Connection::ShakeHands;
    if ((input_.empty() && waits) || step_ == &Connection::FollowStream) End();
  }

  void End() {
    error_code ignored;  // The socket is closed in any case.
    socket_.close(ignored);
    out_of_time_.cancel();
    ForgetLater();
  }

 private:
  using Step = Outcome (Connection::*)();

  void Advance() {
    // The connection may have ended after this call was queued, and its descriptor may belong to another connection.
    if (!socket_.is_open()) return;
    for (;;) {
      switch ((this->*step_)()) {
        case Outcome::kDone:
          if (std::exchange(must_yield_, false)) return Yield();
          break;
        case Outcome::kWaitToRead:
          return Await(HasReadEnough() ? tcp::socket::wait_error : tcp::socket::wait_read);
        case Outcome::kWaitToWrite:
          return Await(tcp::socket::wait_write);
        case Outcome::kClosed:
          return End();
      }
    }
  }

  // A client that has sent a thousand requests at once must not keep other clients waiting until all are answered.
  void Yield() {
    asio::post(thread_.context(), [self = shared_from_this()] { self->Advance(); });
  }

  void Await(tcp::socket::wait_type condition) {
    socket_.async_wait(condition, [self = shared_from_this()](error_code failed) {
      if (!failed) self->Advance();
    });
  }

  // A later deadline does not set the timer again, to save calls.  If the timer fires before the deadline, SetAlarm()
  // sets it again.
  void EndAfter(milliseconds time) {
    deadline_ = std::chrono::steady_clock::now() + time;
    if (!alarm_ || deadline_ < *alarm_) SetAlarm();
  }
  void SetAlarm() {
    alarm_ = deadline_;
    out_of_time_.expires_at(deadline_);
    out_of_time_.async_wait([alive = weak_from_this()](error_code failed) {
      const auto self = alive.lock();
      if (failed || !self) return;
      if (std::chrono::steady_clock::now() < self->deadline_) return self->SetAlarm();
      self->alarm_.reset();
      if (self->step_ == &Connection::AwaitLater) return self->ReplaceLater();
      self->End();
    });
  }

  Outcome ShakeHands() {
    const Outcome outcome = wire_.ShakeHands().outcome;
    if (outcome == Outcome::kDone) ExpectHead();
    return outcome;
  }

  // Prepares for a head, of which a part may have been read already.
  void ExpectHead() {
    parser_.emplace();
    parser_->eager(false);
    parser_->header_limit(static_cast<std::uint32_t>(server_.limits().head));
    // Boost 1.74 refuses each request with a Content-Length if the limit is none.
    parser_->body_limit(std::numeric_limits<std::uint64_t>::max());
    step_ = &Connection::ReadHead;
  }

  Outcome ReadHead() {
    if (!input_.empty() && HeadIsThere()) {
      // The parsed head may be much larger than the request, and the client may read the answer slowly.
      parser_.reset();
      return Outcome::kDone;
    }
    std::array<char, 4096> bytes;
    const Progress progress = wire_.Read(bytes);
    if (progress.outcome != Outcome::kDone) return progress.outcome;
    if (is_idle_) EndAfter(server_.limits().head_time);
    is_idle_ = false;
    input_.append(bytes.data(), progress.bytes);
    return Outcome::kDone;
  }

  // Parses the received bytes.  Returns whether an answer is due, even if only because the head is invalid.
  bool HeadIsThere() {
    error_code failed;
    const std::size_t used = parser_->put(asio::buffer(input_), failed);
    input_.erase(0, used);
    if (HasTooManyFields()) return Answer({.status = 431}, AfterAnswer::kClose);
    if (failed == http::error::need_more) return false;
    if (failed == http::error::header_limit || failed == http::error::buffer_overflow) {
      return Answer({.status = 431}, AfterAnswer::kClose);
    }
    if (failed) return Answer({.status = 400}, AfterAnswer::kClose);
    return parser_->is_header_done() && AnswerRequest();
  }

  bool HasTooManyFields() const {
    const auto& fields = parser_->get();
    return static_cast<std::size_t>(std::distance(fields.begin(), fields.end())) > server_.limits().fields;
  }

  bool AnswerRequest() {
    const auto& message = parser_->get();
    if (!NamesItsHost(message)) return Answer({.status = 400}, AfterAnswer::kClose);
    if (!server_.Allows(client_key_)) {
      return Answer({.status = 503, .headers = {{"Retry-After", "1"}}}, AfterAnswer::kClose);
    }
    is_head_request_ = message.method() == http::verb::head;
    const bool must_close = HasBody(*parser_) || !message.keep_alive();
    const AfterAnswer kept = message.version() == 10 ? AfterAnswer::kKeepAsAsked : AfterAnswer::kKeep;
    HttpAnswer answer = (*server_.handler())(RequestOf(message, peer_));
    if (answer.later) return AnswerLater(std::move(answer.later), must_close ? AfterAnswer::kClose : kept);
    return Answer(std::move(answer), must_close ? AfterAnswer::kClose : kept);
  }

  bool AnswerLater(std::shared_ptr<LaterAnswer> later, AfterAnswer after) {
    auto count = server_.AddLater(client_key_);
    if (!count) {
      later->Abandon();
      return Answer(AnswerForNow(), AfterAnswer::kClose);
    }
    later->CountAs(std::move(count));
    later_ = std::move(later);
    after_later_ = after;
    EndAfter(server_.limits().later_answer_time);
    step_ = &Connection::AwaitLater;
    return true;
  }

  static HttpAnswer AnswerForNow() { return {.status = 503, .headers = {{"Retry-After", "1"}}}; }

  // Reads meanwhile, to notice when the client leaves.  Only the beginning of the next requests is kept in memory.
  Outcome AwaitLater() {
    const auto make = later_->Take([&context = thread_.context(), waiting = weak_from_this()] {
      asio::post(context, [waiting] {
        const auto self = waiting.lock();
        if (self && self->step_ == &Connection::AwaitLater) self->CancelWaitAndAdvance();
      });
    });
    if (make) {
      ForgetLater();
      Answer(make(), after_later_);
      return Outcome::kDone;
    }
    if (HasReadEnough()) return Outcome::kWaitToRead;
    std::array<char, 4096> bytes;
    const Progress progress = wire_.Read(bytes);
    input_.append(bytes.data(), progress.bytes);
    must_yield_ = progress.outcome == Outcome::kDone;
    return progress.outcome;
  }

  bool HasReadEnough() const { return step_ == &Connection::AwaitLater && input_.size() >= server_.limits().head; }

  void ReplaceLater() {
    if (!socket_.is_open()) return;
    ForgetLater();
    Answer(AnswerForNow(), AfterAnswer::kClose);
    CancelWaitAndAdvance();
  }

  void ForgetLater() {
    if (!later_) return;
    later_->Abandon();
    later_ = nullptr;
  }

  // Advances after an event that the socket does not report, such as a new piece of a stream.
  void CancelWaitAndAdvance() {
    error_code ignored;  // Afterwards nothing waits for the socket, and Advance() waits again.
    socket_.cancel(ignored);
    Advance();
  }

  bool Answer(HttpAnswer answer, AfterAnswer after) {
    if (answer.stream) after = AfterAnswer::kClose;
    closes_ = after == AfterAnswer::kClose;
    output_ = HeadOf(answer, ReasonOf(answer.status), after);
    body_ = is_head_request_ || answer.stream ? nullptr : std::move(answer.body);
    stream_ = is_head_request_ ? nullptr : std::move(answer.stream);
    written_ = 0;
    const std::size_t seconds = (body_ ? body_->size() : 0) / server_.limits().bytes_per_second;
    EndAfter(server_.limits().answer_time + std::chrono::seconds(seconds));
    step_ = &Connection::WriteHead;
    return true;
  }

  Outcome WriteHead() {
    const Outcome outcome = WriteSome(output_);
    if (outcome == Outcome::kDone && written_ == output_.size()) {
      written_ = 0;
      step_ = stream_ ? &Connection::FollowStream : &Connection::WriteBody;
    }
    return outcome;
  }

  // Sends the pieces of a stream.  Between two pieces, it waits until the client closes the connection or the stream
  // calls WakeFromStream().
  Outcome FollowStream() {
    if (body_ && written_ < body_->size()) return WriteSome(*body_);
    written_ = 0;
    body_ = stream_->Next([&context = thread_.context(), waiting = weak_from_this()] {
      asio::post(context, [waiting] {
        if (const auto self = waiting.lock()) self->WakeFromStream();
      });
    });
    const bool was_waiting = std::exchange(waits_for_piece_, !body_);
    if (!body_ && stream_->IsOver()) {
      BeginClosing();
      return Outcome::kDone;
    }
    // Data from the client does not extend the time without a piece.
    if (body_ || !was_waiting) EndAfter(body_ ? server_.limits().answer_time : server_.limits().stream_idle_time);
    return body_ ? Outcome::kDone : DiscardSome();
  }

  void WakeFromStream() {
    if (socket_.is_open() && step_ == &Connection::FollowStream) CancelWaitAndAdvance();
  }

  Outcome WriteBody() {
    if (!body_ || written_ == body_->size()) {
      FinishAnswer();
      return Outcome::kDone;
    }
    return WriteSome(*body_);
  }

  Outcome WriteSome(std::string_view all) {
    const Progress progress = wire_.Write(all.substr(written_));
    written_ += progress.bytes;
    return progress.outcome;
  }

  void FinishAnswer() {
    body_ = nullptr;
    is_head_request_ = false;
    must_yield_ = true;
    if (closes_ || server_.is_stopping()) return BeginClosing();
    is_idle_ = input_.empty();
    EndAfter(is_idle_ ? server_.limits().idle_time : server_.limits().head_time);
    ExpectHead();
  }

  void BeginClosing() {
    EndAfter(kCloseTime);
    step_ = &Connection::EndSending;
  }

  // Closing a socket with unread data would reset the connection, and the client could lose the answer.
  Outcome EndSending() {
    const Outcome outcome = wire_.EndSending().outcome;
    if (outcome == Outcome::kDone) step_ = &Connection::AwaitEnd;
    return outcome;
  }
  Outcome AwaitEnd() { return DiscardSome(); }

  // A client that sends without end must not keep other clients, or the timers, waiting.
  Outcome DiscardSome() {
    std::array<char, 16 << 10> bytes;
    const Outcome outcome = wire_.Discard(bytes).outcome;
    must_yield_ = outcome == Outcome::kDone;
    return outcome;
  }

  Shared& server_;
  Thread& thread_;
  tcp::socket socket_;
  const std::string client_key_;
  const std::string peer_;
  const std::shared_ptr<const TlsIdentity> identity_;
  Wire wire_;
  asio::steady_timer out_of_time_;
  std::chrono::steady_clock::time_point deadline_;
  std::optional<std::chrono::steady_clock::time_point> alarm_;  // When `out_of_time_` fires; unset if the timer is off.
  Step step_ = &Connection::ShakeHands;

  std::string input_;  // Received bytes of later requests or of an incomplete one.
  std::optional<HeadParser> parser_;
  bool is_idle_ = false;
  bool is_head_request_ = false;

  std::string output_;
  std::shared_ptr<const std::string> body_;  // For a stream, the piece that is being sent.
  std::shared_ptr<HttpStream> stream_;
  bool waits_for_piece_ = false;
  std::size_t written_ = 0;  // Counts the bytes of the head, then those of the body.
  bool closes_ = false;      // The connection ends after the present answer.
  bool must_yield_ = false;  // Other connections of the thread are served before the next step.

  std::shared_ptr<LaterAnswer> later_;  // Set while the connection waits for it.
  AfterAnswer after_later_ = AfterAnswer::kClose;
};

// Ends the connections that wait for a request at once, and all others after their answer or when the time is up.
void HttpServer::Thread::FinishWithin(milliseconds patience) {
  asio::post(context_, [this, patience] {
    busy_.reset();
    for (Connection* connection : std::vector(connections_.begin(), connections_.end())) connection->PrepareToStop();
    if (connections_.empty()) return;
    is_finishing_ = true;
    finish_timer_.expires_after(patience);
    finish_timer_.async_wait([this](error_code) {
      is_finishing_ = false;
      context_.stop();
    });
  });
}

// ---- accepting connections ------------------------------------------------------------------------------------------

class HttpServer::Listener {
 public:
  Listener(Shared& server, asio::io_context& context) : server_(server), acceptor_(context), again_(context) {}

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
    if (server_.is_stopping()) return;
    if (server_.is_full()) {
      is_waiting_ = true;
      // A connection may have ended between the check and the store.
      if (server_.is_full() || !is_waiting_.exchange(false)) return;
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
    std::string client_key = ClientKeyOf(address);
    if (!server_.AddConnection(client_key)) return;
    asio::post(thread.context(), [&server = server_, &thread, client_key = std::move(client_key),
                                  text = ToText(ListenAddress{address, peer.port()}),
                                  taken = std::move(socket)]() mutable {
      std::make_shared<Connection>(server, thread, std::move(taken), std::move(client_key), std::move(text))->Begin();
    });
  }

  void AcceptLater() {
    again_.expires_after(kAcceptAgain);
    again_.async_wait([this](error_code failed) {
      if (!failed) Accept();
    });
  }

  Shared& server_;
  tcp::acceptor acceptor_;
  asio::steady_timer again_;
  std::atomic<bool> is_waiting_ = false;
};

// ---- the server -----------------------------------------------------------------------------------------------------

// After an error here, Stop() cleans up.
Result<> HttpServer::Shared::Begin(const HttpServerSettings& settings) {
  TRY(MakeThreads(settings.threads), "making an HTTP server");
  address_ = TRY(listener_->Open(settings.listen), "listening at " + ToText(settings.listen));
  // Signals are handled by other threads, and SIGPIPE from a client that is gone must not end the program.
  const AllSignalsBlocked blocked;
  for (const auto& thread : threads_) TRY(thread->Begin(), "making an HTTP server");
  asio::post(threads_.front()->context(), [this] { listener_->Accept(); });
  return {};
}

Result<> HttpServer::Shared::MakeThreads(int count) {
  try {
    for (int i = 0; i < std::max(count, 1); ++i) threads_.push_back(std::make_unique<Thread>());
    listener_ = std::make_unique<Listener>(*this, threads_.front()->context());
  } catch (const boost::system::system_error& failure) {
    return Error::FromErrno("epoll", failure.code().value());
  }
  return {};
}

bool HttpServer::Shared::AddConnection(const std::string& client_key) {
  if (limits_.connections_per_address > 0) {
    const std::lock_guard lock(mutex_);
    std::size_t& others = connections_of_[client_key];
    if (others >= limits_.connections_per_address) return false;
    ++others;
  }
  ++connections_;
  return true;
}

void HttpServer::Shared::RemoveConnection(const std::string& client_key) {
  if (limits_.connections_per_address > 0) {
    const std::lock_guard lock(mutex_);
    const auto own = connections_of_.find(client_key);
    if (--own->second == 0) connections_of_.erase(own);
  }
  --connections_;
  if (listener_ && !stopping_) listener_->Wake();
}

void HttpServer::Shared::Stop() {
  stopping_ = true;
  if (listener_) listener_->Close();
  for (const auto& thread : threads_) thread->FinishWithin(limits_.stop_time);
  for (const auto& thread : threads_) thread->Join();
  listener_.reset();
  // The first thread's context may still hold a socket for another thread.
  for (auto& thread : threads_) thread.reset();
}

HttpServer::HttpServer(std::unique_ptr<Shared> shared) : shared_(std::move(shared)) {}
HttpServer::~HttpServer() { shared_->Stop(); }

Result<std::unique_ptr<HttpServer>> HttpServer::Begin(const HttpServerSettings& settings, HttpHandler handler) {
  std::unique_ptr<HttpServer> server(new HttpServer(std::make_unique<Shared>(settings, std::move(handler))));
  TRY(server->shared_->Begin(settings));
  return server;
}

void HttpServer::SetHandler(HttpHandler handler) { shared_->SetHandler(std::move(handler)); }
void HttpServer::SetIdentity(std::shared_ptr<const TlsIdentity> identity) { shared_->SetIdentity(std::move(identity)); }
const ListenAddress& HttpServer::address() const { return shared_->address(); }
std::size_t HttpServer::connections() const { return shared_->connections(); }

}  // namespace pintle::net
