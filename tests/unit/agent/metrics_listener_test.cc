// SPDX-License-Identifier: Apache-2.0
#include "agent/metrics_listener.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <array>
#include <csignal>
#include <thread>
#include <vector>

#include "support/expect.h"
#include "unit/event/patience.h"

namespace pintle::agent {
namespace {

using std::chrono::milliseconds;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* kGetMetrics = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";
constexpr const char* kSuccess = "HTTP/1.1 200 OK\r\n";
// A time limit that no test reaches.
constexpr milliseconds kLong = event::kPatience;

// A simple client.
class Client {
 public:
  explicit Client(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const timeval patience = {.tv_sec = event::kPatience.count(), .tv_usec = 0};
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }

  Client& Send(const std::string& text) {
    EXPECT_EQ(::send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
    return *this;
  }
  // Returns everything that is received until the server closes the connection.
  std::string ReadToTheEnd() {
    std::string text;
    std::array<char, 65536> bytes;
    for (;;) {
      const ssize_t count = ::recv(socket_.get(), bytes.data(), bytes.size(), 0);
      if (count < 0) text += fmt::format("errno {}", errno);
      if (count <= 0) return text;
      text.append(bytes.data(), static_cast<std::size_t>(count));
    }
  }
  // Returns whether an answer, or the end of the connection, has arrived.
  bool HasAnswer() const {
    char byte;
    return ::recv(socket_.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0;
  }
  std::string Ask(const std::string& request) { return Send(request).ReadToTheEnd(); }

  void Vanish() {
    const linger at_once = {.l_onoff = 1, .l_linger = 0};
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    socket_.Reset();
  }

 private:
  UniqueFd socket_;
};

// While this exists, the process cannot open a file or a socket.
class NoDescriptors {
 public:
  NoDescriptors() {
    EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0);
    const rlimit none = {.rlim_cur = 0, .rlim_max = before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  }
  ~NoDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  NoDescriptors(const NoDescriptors&) = delete;
  NoDescriptors& operator=(const NoDescriptors&) = delete;

 private:
  rlimit before_ = {};
};

class Listener : public testing::Test {
 protected:
  void Begin(const MetricsListener::Limits& limits = {.time = kLong}) {
    listener_ = ValueOf(MetricsListener::Begin(
        *loop_, {"127.0.0.1", 0}, [this] { return text_; }, limits));
  }

  // Runs a client on a thread of its own while the loop runs on this one.
  void RunClient(const std::function<void()>& client) {
    std::thread thread([&] {
      client();
      loop_->Post([&] { loop_->Stop(); });
    });
    EXPECT_TRUE(Succeeded(event::RunPatiently(*loop_)));
    thread.join();
  }
  std::string AnswerTo(const std::string& request) {
    std::string answer;
    RunClient([&] { answer = Client(listener_->port()).Ask(request); });
    return answer;
  }

  std::unique_ptr<event::Loop> loop_ = ValueOf(event::Loop::Create());
  std::string text_ = "mcd_state 1\n";
  std::unique_ptr<MetricsListener> listener_;
};

TEST_F(Listener, ServesTheCurrentText) {
  Begin();
  EXPECT_EQ(AnswerTo(kGetMetrics),
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: 12\r\n"
            "Connection: close\r\n\r\nmcd_state 1\n");
  text_ = "mcd_state 2\n";
  EXPECT_THAT(AnswerTo("GET /metrics?x=1 HTTP/1.0\n\n"), EndsWith("\r\n\r\nmcd_state 2\n"));
}

TEST_F(Listener, AnswersHeadWithoutABody) {
  Begin();
  const std::string answer = AnswerTo("HEAD /metrics HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_THAT(answer, StartsWith(kSuccess));
  EXPECT_THAT(answer, HasSubstr("Content-Length: 12\r\n"));
  EXPECT_THAT(answer, EndsWith("\r\n\r\n"));
  EXPECT_THAT(AnswerTo("HEAD / HTTP/1.1\r\n\r\n"), EndsWith("\r\n\r\n"));
}

TEST_F(Listener, HasNoOtherPath) {
  Begin();
  for (const char* target : {"/", "/metric", "/metrics/", "/metrics/x", "http://a/metrics", "*"}) {
    EXPECT_THAT(AnswerTo(fmt::format("GET {} HTTP/1.1\r\n\r\n", target)), StartsWith("HTTP/1.1 404 Not Found\r\n"));
  }
  EXPECT_THAT(AnswerTo("POST /other HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 404 "));
}

TEST_F(Listener, RefusesOtherMethodsAndNamesTheAllowedOnes) {
  Begin();
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "get", "X"}) {
    const std::string answer = AnswerTo(fmt::format("{} /metrics HTTP/1.1\r\nContent-Length: 4\r\n\r\nbody", method));
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 405 Method Not Allowed\r\n")) << method;
    EXPECT_THAT(answer, HasSubstr("\r\nAllow: GET, HEAD\r\n"));
  }
}

TEST_F(Listener, RefusesJunkAtOnce) {
  Begin();
  const std::string hello("\x16\x03\x01\x02\x00\x01\x00", 7);  // The beginning of a TLS handshake.
  for (const std::string& junk :
       {hello, std::string("\r\n"), std::string("GET /metrics\r\n"), std::string(" / HTTP/1.1\n"),
        std::string("GET  HTTP/1.1\n"), std::string("GET / HTTP/2\r\n"), std::string(9000, '\0'),
        std::string("GET /\xff HTTP/1.1\n"), std::string("GET / x HTTP/1.1\n")}) {
    EXPECT_THAT(AnswerTo(junk), StartsWith("HTTP/1.1 400 Bad Request\r\n")) << junk;
  }
}

TEST_F(Listener, RefusesAHeadThatIsTooLong) {
  Begin();
  const std::string line = "GET /metrics HTTP/1.1\r\nX: ";
  const std::size_t room = 8192 - line.size() - 4;
  EXPECT_THAT(AnswerTo(line + std::string(room, 'x') + "\r\n\r\n"), StartsWith(kSuccess));
  EXPECT_THAT(AnswerTo(line + std::string(room + 1, 'x') + "\r\n\r\n"), StartsWith("HTTP/1.1 431 "));
  EXPECT_THAT(AnswerTo(std::string(100'000, 'x')), StartsWith("HTTP/1.1 431 "));
}

TEST_F(Listener, AcceptsARequestByteByByte) {
  Begin();
  RunClient([&] {
    Client client(listener_->port());
    for (const char letter : std::string(kGetMetrics)) client.Send(std::string(1, letter));
    EXPECT_THAT(client.ReadToTheEnd(), StartsWith(kSuccess));
  });
}

TEST_F(Listener, SendsALongTextCompletely) {
  text_ = std::string(20'000'000, 'x');
  Begin();
  EXPECT_EQ(AnswerTo(kGetMetrics).size() - AnswerTo("HEAD /metrics HTTP/1.1\r\n\r\n").size(), text_.size());
}

TEST_F(Listener, DropsASlowClientAndServesOtherClientsMeanwhile) {
  text_ = std::string(20'000'000, 'x');
  Begin({.time = milliseconds(300)});
  RunClient([&] {
    Client silent(listener_->port());
    Client begins(listener_->port());
    begins.Send("GET /metrics HT");
    Client does_not_read(listener_->port());
    does_not_read.Send(kGetMetrics);
    EXPECT_THAT(Client(listener_->port()).Ask("HEAD /metrics HTTP/1.1\r\n\r\n"), StartsWith(kSuccess));
    EXPECT_EQ(silent.ReadToTheEnd(), "");
    EXPECT_EQ(begins.ReadToTheEnd(), "");
    EXPECT_LT(does_not_read.ReadToTheEnd().size(), text_.size());
  });
}

TEST_F(Listener, LetsClientsWaitAtTheLimitOfConnections) {
  Begin({.connections = 2, .time = kLong});
  RunClient([&] {
    auto first = std::make_unique<Client>(listener_->port());
    const Client second(listener_->port());
    Client third(listener_->port());
    third.Send(kGetMetrics);
    first.reset();
    EXPECT_THAT(third.ReadToTheEnd(), StartsWith(kSuccess));
  });
}

// The kernel connects clients before they are accepted, so no thread is needed for them.
TEST_F(Listener, KeepsTheLimitOfConnectionsAfterAFailureToAccept) {
  constexpr auto kPause = milliseconds(50);
  Begin({.connections = 2, .time = kLong, .pause = kPause});
  auto first = std::make_unique<Client>(listener_->port());
  event::Settle(*loop_);
  auto second = std::make_unique<Client>(listener_->port());
  const Client third(listener_->port());
  {
    const NoDescriptors no_descriptors;
    event::Settle(*loop_);
  }
  // The end of a connection makes the listener accept again, up to its limit, before the pause is over.
  first.reset();
  for (int i = 0; i < 4; ++i) event::Settle(*loop_);
  Client fourth(listener_->port());
  fourth.Send(kGetMetrics);
  event::Timer after_the_pause(*loop_, [&] { loop_->Stop(); });
  after_the_pause.After(2 * kPause);
  ASSERT_TRUE(Succeeded(event::RunPatiently(*loop_)));
  event::Settle(*loop_);
  EXPECT_FALSE(fourth.HasAnswer());
  second.reset();
  RunClient([&] { EXPECT_THAT(fourth.ReadToTheEnd(), StartsWith(kSuccess)); });
}

TEST_F(Listener, ContinuesAfterAClientHasGone) {
  text_ = std::string(20'000'000, 'x');
  Begin();
  RunClient([&] {
    Client(listener_->port()).Vanish();
    Client(listener_->port()).Send("GET /met").Vanish();
    Client(listener_->port()).Send(kGetMetrics).Vanish();
    { Client(listener_->port()).Send(kGetMetrics); }
    EXPECT_THAT(Client(listener_->port()).Ask(kGetMetrics), StartsWith(kSuccess));
  });
}

TEST_F(Listener, ServesAHundredAtOnce) {
  Begin();
  RunClient([&] {
    std::vector<std::unique_ptr<Client>> clients;
    for (int i = 0; i < 100; ++i) clients.push_back(std::make_unique<Client>(listener_->port()));
    for (const auto& client : clients) client->Send(kGetMetrics);
    for (const auto& client : clients) EXPECT_THAT(client->ReadToTheEnd(), StartsWith(kSuccess));
  });
}

TEST_F(Listener, MayEndWithAConnectedClient) {
  Begin();
  std::unique_ptr<Client> client;
  RunClient([&] {
    client = std::make_unique<Client>(listener_->port());
    client->Send("GET ");
  });
  event::Settle(*loop_);
  listener_.reset();
  EXPECT_THAT(client->ReadToTheEnd(), Not(HasSubstr("200")));
}

TEST_F(Listener, ListensOnIpv6) {
  const auto listener = MetricsListener::Begin(*loop_, {"::1", 0}, [] { return ""; });
  ASSERT_TRUE(listener) << listener.error().message();
  EXPECT_NE((*listener)->port(), 0);
}

TEST_F(Listener, NamesTheAddressAtWhichItCannotListen) {
  Begin();
  const auto second = MetricsListener::Begin(*loop_, {"127.0.0.1", listener_->port()}, [] { return ""; });
  EXPECT_EQ(MessageOf(second),
            fmt::format("serving metrics at 127.0.0.1 port {}: bind: Address already in use", listener_->port()));
}

}  // namespace
}  // namespace pintle::agent
