// SPDX-License-Identifier: Apache-2.0
#pragma once

// A server on loopback.  It sends prepared answers in order, whatever the requests are, or calls a function for each
// answer, in several threads.

#include <arpa/inet.h>
#include <fmt/core.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/unique_fd.h"
#include "kube/access.h"
#include "kube/backoff.h"
#include "support/expect.h"

namespace pintle::kube {

// How an answer ends after its body.
enum class Ending {
  kInOrder,
  kCutOff,  // The connection is closed before the end.
  kNever,   // Nothing more comes until the client leaves.
};

struct Answer {
  int status = 200;
  std::string body = {};
  std::vector<std::string> headers = {};
  Ending ending = Ending::kInOrder;
  std::size_t piece = 1 << 20;  // Bytes of the body in a chunk.
  // Used with kNever: called again and again, returns the next piece; an empty piece is not sent.
  std::function<std::string()> more = {};
  // Sent in place of the members above, before the connection is closed.
  std::optional<std::string> raw = {};
};

// A request that the server has received.
struct ReceivedRequest {
  std::string line;  // "GET /api/v1/nodes?limit=100"
  std::string head;
  std::string body;
};

class ScriptedServer {
 public:
  using Answering = std::function<Answer(const ReceivedRequest& request)>;

  explicit ScriptedServer(std::deque<Answer> answers = {}, Answering answering = {})
      : answers_(std::move(answers)), answering_(std::move(answering)), listener_(Listen()) {
    if (::pipe(stop_) != 0) std::abort();
    threads_.emplace_back([this] { AcceptAll(); });
  }
  ~ScriptedServer() {
    ::close(stop_[1]);
    threads_.front().join();
    for (auto thread = std::next(threads_.begin()); thread != threads_.end(); ++thread) thread->join();
    ::close(stop_[0]);
  }
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;

  Access access() const {
    Config config = {.server = ValueOf(net::Url::Parse(fmt::format("http://127.0.0.1:{}", port_)))};
    return Access::Fixed(std::move(config));
  }

  void Add(Answer answer) {
    const std::lock_guard lock(mutex_);
    answers_.push_back(std::move(answer));
  }

  std::vector<ReceivedRequest> requests() {
    const std::lock_guard lock(mutex_);
    return requests_;
  }
  std::vector<std::string> request_lines() {
    std::vector<std::string> lines;
    for (const ReceivedRequest& request : requests()) lines.push_back(request.line);
    return lines;
  }

 private:
  UniqueFd Listen() {
    UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof(address);
    if (::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), length) != 0 || ::listen(fd.get(), 16) != 0)
      std::abort();
    ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &length);
    port_ = ntohs(address.sin_port);
    return fd;
  }

  // Waits until there is something to read; returns false if the server is to end.
  bool Wait(int fd) const {
    pollfd both[] = {{fd, POLLIN, 0}, {stop_[0], POLLIN, 0}};
    ::poll(both, 2, -1);
    return both[1].revents == 0;
  }

  // Sends pieces until the client leaves or the server is to end.
  void SendMore(const UniqueFd& connection, const Answer& answer) const {
    if (!answer.more) return void(Wait(connection.get()));
    constexpr int kEvery = 2;  // ms
    pollfd both[] = {{connection.get(), POLLIN, 0}, {stop_[0], POLLIN, 0}};
    while (::poll(both, 2, kEvery) == 0) {
      const std::string piece = answer.more();
      if (!piece.empty()) Send(connection, fmt::format("{:x}\r\n{}\r\n", piece.size(), piece));
    }
  }

  void AcceptAll() {
    while (Wait(listener_.get())) {
      const int connection = ::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC);
      // Answers are sent in pieces; without this option, a piece would wait until the client has acknowledged the one
      // before.
      const int yes = 1;
      ::setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
      threads_.emplace_back([this, connection] { Serve(UniqueFd(connection)); });
    }
  }

  void Serve(const UniqueFd connection) {
    std::string received;
    for (;;) {
      const std::size_t head_end = received.find("\r\n\r\n");
      const std::size_t length = head_end == std::string::npos ? 0 : BodyLength(received);
      if (head_end != std::string::npos && received.size() >= head_end + 4 + length) {
        if (!AnswerOne(connection, received.substr(0, head_end), received.substr(head_end + 4, length))) return;
        received.erase(0, head_end + 4 + length);
        continue;
      }
      char bytes[4096];
      if (!Wait(connection.get())) return;
      const ssize_t count = ::read(connection.get(), bytes, sizeof(bytes));
      if (count <= 0) return;
      received.append(bytes, static_cast<std::size_t>(count));
    }
  }

  static std::size_t BodyLength(const std::string& head) {
    const std::size_t at = head.find("Content-Length: ");
    return at == std::string::npos ? 0 : std::strtoul(head.c_str() + at + 16, nullptr, 10);
  }

  bool AnswerOne(const UniqueFd& connection, const std::string& head, const std::string& body) {
    Answer answer = Next(head, body);
    if (answer.raw) {
      Send(connection, *answer.raw);
      return false;
    }
    std::string text = fmt::format("HTTP/1.1 {} Whatever\r\nTransfer-Encoding: chunked\r\n", answer.status);
    for (const std::string& header : answer.headers) text += header + "\r\n";
    Send(connection, text + "\r\n");
    for (std::size_t at = 0; at < answer.body.size(); at += answer.piece) {
      const std::string piece = answer.body.substr(at, answer.piece);
      Send(connection, fmt::format("{:x}\r\n{}\r\n", piece.size(), piece));
    }
    if (answer.ending == Ending::kInOrder) Send(connection, "0\r\n\r\n");
    // The next thing to read is the end of the connection by the client.
    if (answer.ending == Ending::kNever) SendMore(connection, answer);
    return answer.ending == Ending::kInOrder;
  }

  // Requests without a prepared answer get none.
  Answer Next(const std::string& head, const std::string& body) {
    const ReceivedRequest request = {head.substr(0, head.find(" HTTP/")), head, body};
    if (answering_) return answering_(request);
    const std::lock_guard lock(mutex_);
    requests_.push_back(request);
    if (answers_.empty()) return {.ending = Ending::kNever};
    Answer answer = std::move(answers_.front());
    answers_.pop_front();
    return answer;
  }

  static void Send(const UniqueFd& connection, const std::string& text) {
    std::string_view rest = text;
    while (!rest.empty()) {
      const ssize_t sent = ::send(connection.get(), rest.data(), rest.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;
      rest.remove_prefix(static_cast<std::size_t>(sent));
    }
  }

  std::mutex mutex_;
  std::deque<Answer> answers_;
  const Answering answering_;
  std::vector<ReceivedRequest> requests_;
  int port_ = 0;
  int stop_[2] = {-1, -1};
  UniqueFd listener_;
  std::list<std::thread> threads_;  // The first accepts connections and adds the others.
};

// Almost no wait between tries.
inline constexpr Backoff::Settings kNoTime = {
    .first = std::chrono::milliseconds(1), .longest = std::chrono::milliseconds(1), .jitter = 0};

}  // namespace pintle::kube
