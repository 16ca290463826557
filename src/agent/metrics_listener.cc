// SPDX-License-Identifier: Apache-2.0
#include "agent/metrics_listener.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <string_view>
#include <utility>

#include "base/log.h"

namespace pintle::agent {
namespace {

constexpr std::string_view kPath = "/metrics";

// ---- HTTP -----------------------------------------------------------------------------------------------------------

struct RequestLine {
  std::string_view method;
  std::string_view target;
};

bool IsVisible(char c) { return c > ' ' && c < '\x7f'; }

// Parses a line such as "GET /metrics HTTP/1.1".
std::optional<RequestLine> ParseRequestLine(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (first == last || first == 0 || !line.substr(last + 1).starts_with("HTTP/1.")) return std::nullopt;
  const RequestLine request = {line.substr(0, first), line.substr(first + 1, last - first - 1)};
  const bool is_text = std::all_of(request.method.begin(), request.method.end(), IsVisible) &&
                       std::all_of(request.target.begin(), request.target.end(), IsVisible);
  return is_text && !request.target.empty() ? std::optional(request) : std::nullopt;
}

// Returns whether the bytes received so far cannot be the beginning of a request.
bool IsJunk(std::string_view head) {
  const std::size_t end = head.find('\n');
  if (end != std::string_view::npos) return !ParseRequestLine(head.substr(0, end));
  return !std::all_of(head.begin(), head.end(), [](char c) { return IsVisible(c) || c == ' ' || c == '\r'; });
}

bool IsWhole(std::string_view head) {
  return head.find("\n\r\n") != std::string_view::npos || head.find("\n\n") != std::string_view::npos;
}

// Returns whether the client has sent everything.  With a method other than GET and HEAD, a body may still follow.
bool HasSentAll(std::string_view head) {
  return IsWhole(head) && (head.starts_with("GET ") || head.starts_with("HEAD "));
}

struct Answer {
  std::string_view status;
  std::string_view headers = "Content-Type: text/plain; charset=utf-8\r\n";
  std::string body = {};  // If it is empty, the status is the body.
};

std::string ResponseText(Answer answer, std::string_view method) {
  if (answer.body.empty()) answer.body = fmt::format("{}\n", answer.status);
  return fmt::format("HTTP/1.1 {}\r\n{}Content-Length: {}\r\nConnection: close\r\n\r\n{}", answer.status,
                     answer.headers, answer.body.size(), method == "HEAD" ? "" : answer.body);
}

Answer AnswerTo(const RequestLine& request, const std::function<std::string()>& text) {
  if (request.target.substr(0, request.target.find('?')) != kPath) return {"404 Not Found"};
  if (request.method != "GET" && request.method != "HEAD") {
    return {"405 Method Not Allowed", "Content-Type: text/plain; charset=utf-8\r\nAllow: GET, HEAD\r\n"};
  }
  return {"200 OK", "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n", text()};
}

// Returns nullopt while the head is not complete.
std::optional<std::string> AnswerIfWhole(std::string_view head, std::size_t limit,
                                         const std::function<std::string()>& text) {
  if (IsJunk(head)) return ResponseText({"400 Bad Request"}, "");
  if (IsWhole(head)) {
    const auto request = *ParseRequestLine(head.substr(0, head.find('\n')));
    return ResponseText(AnswerTo(request, text), request.method);
  }
  if (head.size() == limit) return ResponseText({"431 Request Header Fields Too Large"}, "");
  return std::nullopt;
}

// ---- sockets --------------------------------------------------------------------------------------------------------

// An address of either family.
union SocketAddress {
  sockaddr any;
  sockaddr_in four;
  sockaddr_in6 six;
};

Result<SocketAddress> ParseAddress(const ListenAddress& listen) {
  SocketAddress address = {};
  if (::inet_pton(AF_INET, listen.address.c_str(), &address.four.sin_addr) == 1) {
    address.four.sin_family = AF_INET;
    address.four.sin_port = htons(listen.port);
    return address;
  }
  address = {};
  if (::inet_pton(AF_INET6, listen.address.c_str(), &address.six.sin6_addr) == 1) {
    address.six.sin6_family = AF_INET6;
    address.six.sin6_port = htons(listen.port);
    return address;
  }
  return Error(ErrorKind::kInvalid, "it is not an IP address");
}

std::uint16_t PortOf(const SocketAddress& address) {
  return ntohs(address.any.sa_family == AF_INET ? address.four.sin_port : address.six.sin6_port);
}

Result<UniqueFd> Listen(const SocketAddress& address) {
  UniqueFd socket(::socket(address.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket) return Error::FromErrno("socket");
  // A restarted agent must not wait until the connections of its predecessor have ended.
  const int yes = 1;
  if (::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0)
    return Error::FromErrno("setsockopt");
  if (::bind(socket.get(), &address.any, sizeof address) != 0) return Error::FromErrno("bind");
  if (::listen(socket.get(), SOMAXCONN) != 0) return Error::FromErrno("listen");
  return socket;
}

Result<std::uint16_t> BoundPort(const UniqueFd& socket) {
  SocketAddress address = {};
  socklen_t size = sizeof address;
  if (::getsockname(socket.get(), &address.any, &size) != 0) return Error::FromErrno("getsockname");
  return PortOf(address);
}

bool WouldBlock() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

}  // namespace

// ---- one client -----------------------------------------------------------------------------------------------------

class MetricsListener::Connection {
 public:
  Connection(MetricsListener& listener, UniqueFd socket)
      : listener_(listener), socket_(std::move(socket)), out_of_time_(listener.loop_, [this] { End(); }) {
    out_of_time_.After(listener.limits_.time);
  }

  Result<> Watch() {
    watch_ = TRY(event::FdWatch::Create(listener_.loop_, socket_.get(), {.readable = true},
                                        [this](event::FdReadiness) { (this->*next_)(); }));
    return {};
  }

 private:
  void Read() {
    const auto count = Receive();
    if (!count) return;
    if (*count == 0) return End();
    auto answer = AnswerIfWhole(head_, listener_.limits_.head, listener_.text_);
    if (!answer) return;
    answer_ = *std::move(answer);
    next_ = &Connection::Write;
    watch_->WaitFor({.writable = true});
  }

  void Write() {
    const std::string_view left = std::string_view(answer_).substr(written_);
    const ssize_t count = ::send(socket_.get(), left.data(), left.size(), MSG_NOSIGNAL);
    if (count < 0) return WouldBlock() ? void() : End();
    written_ += static_cast<std::size_t>(count);
    if (written_ < answer_.size()) return;
    if (HasSentAll(head_)) return End();
    // Closing the socket with unread data would reset the connection, and the client could lose the answer.
    if (::shutdown(socket_.get(), SHUT_WR) != 0) return End();
    next_ = &Connection::AwaitEnd;
    watch_->WaitFor({.readable = true});
  }

  // Drops what the client still sends, until the client closes the connection.
  void AwaitEnd() {
    head_.clear();
    const auto count = Receive();
    if (count && *count == 0) End();
  }

  void End() { listener_.Forget(this); }

  // Appends received bytes to the head.  Returns nullopt if there are none now, and 0 if none will come.
  std::optional<std::size_t> Receive() {
    std::array<char, 4096> bytes;
    const ssize_t count =
        ::recv(socket_.get(), bytes.data(), std::min(bytes.size(), listener_.limits_.head - head_.size()), 0);
    if (count < 0) return WouldBlock() ? std::nullopt : std::optional<std::size_t>(0);
    head_.append(bytes.data(), static_cast<std::size_t>(count));
    return static_cast<std::size_t>(count);
  }

  MetricsListener& listener_;
  void (Connection::*next_)() = &Connection::Read;  // Called when the socket is ready.
  std::string head_;
  std::string answer_;
  std::size_t written_ = 0;
  const UniqueFd socket_;
  std::optional<event::FdWatch> watch_;
  event::Timer out_of_time_;
};

// ---- all clients ----------------------------------------------------------------------------------------------------

Result<std::unique_ptr<MetricsListener>> MetricsListener::Begin(event::Loop& loop, const ListenAddress& address,
                                                                std::function<std::string()> text,
                                                                const Limits& limits) {
  const auto begin = [&]() -> Result<std::unique_ptr<MetricsListener>> {
    UniqueFd socket = TRY(Listen(TRY(ParseAddress(address))));
    const std::uint16_t port = TRY(BoundPort(socket));
    auto listener =
        std::unique_ptr<MetricsListener>(new MetricsListener(loop, std::move(socket), port, std::move(text), limits));
    listener->arrivals_ = std::make_unique<event::FdWatch>(
        TRY(event::FdWatch::Create(loop, listener->socket_.get(), {.readable = true},
                                   [self = listener.get()](event::FdReadiness) { self->Accept(); })));
    return listener;
  };
  return TRY(begin(), fmt::format("serving metrics at {} port {}", address.address, address.port));
}

MetricsListener::MetricsListener(event::Loop& loop, UniqueFd socket, std::uint16_t port,
                                 std::function<std::string()> text, const Limits& limits)
    : loop_(loop),
      socket_(std::move(socket)),
      port_(port),
      text_(std::move(text)),
      limits_(limits),
      accept_again_(loop, [this] { AwaitClients(); }) {}

MetricsListener::~MetricsListener() = default;

void MetricsListener::Accept() {
  UniqueFd socket(::accept4(socket_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (!socket) return WouldBlock() || errno == ECONNABORTED ? void() : AcceptLater();
  auto connection = std::make_unique<Connection>(*this, std::move(socket));
  if (const auto watched = connection->Watch(); !watched) return log::Debug(watched.error().message());
  connections_.push_back(std::move(connection));
  AwaitClients();
}

void MetricsListener::AcceptLater() {
  arrivals_->WaitFor({});
  accept_again_.After(limits_.pause);
}

void MetricsListener::AwaitClients() { arrivals_->WaitFor({.readable = connections_.size() < limits_.connections}); }

void MetricsListener::Forget(const Connection* ended) {
  std::erase_if(connections_, [&](const auto& connection) { return connection.get() == ended; });
  AwaitClients();
}

}  // namespace pintle::agent
