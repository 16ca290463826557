// SPDX-License-Identifier: Apache-2.0
#include "net/http_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/unique_fd.h"
#include "event/loop.h"
#include "net/http_client.h"
#include "support/expect.h"
#include "support/refused_calls.h"
#include "unit/event/patience.h"
#include "unit/net/servers.h"

namespace pintle::net {
namespace {

using std::chrono::milliseconds;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// A client that sends exactly the given bytes.
class Caller {
 public:
  explicit Caller(std::uint16_t port, std::uint32_t from = INADDR_LOOPBACK)
      : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(from);
    if (::bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
      throw std::runtime_error("bind");
    }
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
      throw std::runtime_error("connect");
    }
    const timeval patience = {.tv_sec = 60, .tv_usec = 0};
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  }

  Caller& Send(std::string_view words) {
    EXPECT_EQ(::send(socket_.get(), words.data(), words.size(), MSG_NOSIGNAL), static_cast<ssize_t>(words.size()));
    return *this;
  }
  // Sends these words or a part of them; returns whether the connection is still there.
  bool TrySend(std::string_view words) { return ::send(socket_.get(), words.data(), words.size(), MSG_NOSIGNAL) > 0; }
  // Waits for an answer or the end of the connection.
  bool HasNews(milliseconds patience) {
    pollfd wanted = {.fd = socket_.get(), .events = POLLIN, .revents = 0};
    return ::poll(&wanted, 1, static_cast<int>(patience.count())) == 1;
  }
  Caller& CloseSendingSide() {
    EXPECT_EQ(::shutdown(socket_.get(), SHUT_WR), 0);
    return *this;
  }
  void Leave() { socket_ = UniqueFd(); }
  // Returns everything until the server ends the connection.
  std::string ReceiveAll() {
    std::string all;
    while (ReceiveSome(all)) {
    }
    return all;
  }
  // Returns everything up to and including this text.
  std::string ReceiveUntil(std::string_view end) {
    std::string all;
    while (all.find(end) == std::string::npos && ReceiveSome(all)) {
    }
    return all;
  }

 private:
  bool ReceiveSome(std::string& all) {
    char bytes[4096];
    const ssize_t count = ::recv(socket_.get(), bytes, sizeof bytes, 0);
    if (count > 0) all.append(bytes, static_cast<std::size_t>(count));
    return count > 0;
  }

  UniqueFd socket_;
};

// Waits until a condition holds; returns false if it does not within a minute.
bool Await(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

constexpr std::string_view kGreeting = "\r\n\r\nhello";
const std::string kGet = "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n";
const std::string kLastGet = "GET /hello HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";

int CountOf(std::string_view part, std::string_view text) {
  int count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

HttpAnswer Greet(const IncomingRequest& request) {
  if (request.target == "/long") return {.body = std::make_shared<const std::string>(5'000'000, 'x')};
  return {.headers = {{"X-Asked", std::string(request.method) + " " + std::string(request.target)}},
          .body = std::make_shared<const std::string>("hello")};
}

class HttpServerTest : public testing::Test {
 protected:
  std::uint16_t Begin(HttpServerLimits limits = {}, HttpHandler handler = Greet, int threads = 2) {
    server_ = ValueOf(HttpServer::Begin(
        {.listen = {"127.0.0.1", 0}, .identity = identity_, .threads = threads, .limits = limits}, std::move(handler)));
    return server_->address().port;
  }
  Caller Call() { return Caller(server_->address().port); }

  std::unique_ptr<HttpServer> server_;
  std::shared_ptr<const TlsIdentity> identity_;
};

TEST_F(HttpServerTest, AnswersRequestAfterRequestOnOneConnection) {
  Begin();
  Caller caller = Call();
  for (int i = 0; i < 3; ++i) {
    const std::string answer = caller.Send(kGet).ReceiveUntil(kGreeting);
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\nDate: "));
    EXPECT_THAT(answer, HasSubstr("Content-Length: 5\r\nX-Asked: GET /hello\r\n\r\nhello"));
    EXPECT_THAT(answer, Not(HasSubstr("Connection:")));
  }
}

TEST_F(HttpServerTest, AnswersRequestsThatComeTogetherInTheirOrder) {
  Begin();
  const std::string answers =
      Call().Send("GET /1 HTTP/1.1\r\nHost: a\r\n\r\nHEAD /2 HTTP/1.1\r\nHost: a\r\n\r\n" + kLastGet).ReceiveAll();
  EXPECT_EQ(CountOf("HTTP/1.1 200 OK\r\n", answers), 3);
  EXPECT_LT(answers.find("GET /1"), answers.find("HEAD /2"));
  EXPECT_LT(answers.find("HEAD /2"), answers.find("GET /hello"));
  EXPECT_EQ(CountOf("\r\n\r\nhello", answers), 2);
  EXPECT_THAT(answers, HasSubstr("Connection: close\r\n"));
}

TEST_F(HttpServerTest, ServesOtherClientsBesideAClientWithManyRequests) {
  Begin({}, Greet, 1);
  Caller greedy = Call();
  std::string many;
  for (int i = 0; i < 2'000; ++i) many += kGet;
  std::thread ask([&] { greedy.Send(many + kLastGet); });
  EXPECT_THAT(Call().Send(kLastGet).ReceiveAll(), EndsWith("hello"));
  EXPECT_EQ(CountOf(kGreeting, greedy.ReceiveAll()), 2'001);
  ask.join();
}

// Sends without end, from threads, so that the connection always has something to read.
class Flood {
 public:
  explicit Flood(Caller& caller) {
    for (int i = 0; i < 3; ++i) {
      senders_.emplace_back([this, &caller] {
        const std::string words(1 << 20, 'x');
        while (!is_over_ && caller.TrySend(words)) {
        }
      });
    }
  }
  ~Flood() {
    is_over_ = true;
    for (std::thread& sender : senders_) sender.join();
  }

 private:
  std::atomic<bool> is_over_ = false;
  std::vector<std::thread> senders_;
};

TEST_F(HttpServerTest, ServesOtherClientsBesideAClientWhoseBodyNeverEnds) {
  Begin({}, Greet, 1);
  Caller greedy = Call();
  greedy.Send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000000000\r\n\r\n").ReceiveUntil(kGreeting);
  const Flood flood(greedy);
  Caller other = Call();
  other.Send(kLastGet);
  EXPECT_TRUE(other.HasNews(std::chrono::seconds(20)));
  // The client gets a moment to read the answer, and no longer.
  ASSERT_TRUE(Await([&] { return server_->connections() <= 1; }));
}

TEST_F(HttpServerTest, AnswersARequestWithAnEmptyBody) {
  Begin();
  const std::string answer =
      Call().Send("POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 0\r\n\r\n").ReceiveAll();
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 "));
}

TEST_F(HttpServerTest, SendsTheLengthOfTheBodyThatHeadOmits) {
  Begin();
  const std::string answer = Call().Send("HEAD /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").ReceiveAll();
  EXPECT_THAT(answer, HasSubstr("Content-Length: 5\r\n"));
  EXPECT_THAT(answer, EndsWith("\r\n\r\n"));
}

TEST_F(HttpServerTest, AcceptsAHeadInPieces) {
  Begin();
  Caller caller = Call();
  for (const char c : kGet) caller.Send({&c, 1});
  EXPECT_THAT(caller.ReceiveUntil(kGreeting), StartsWith("HTTP/1.1 200 OK\r\n"));
}

TEST_F(HttpServerTest, AnswersAClientThatHasClosedItsSendingSide) {
  Begin();
  EXPECT_THAT(Call().Send(kGet).CloseSendingSide().ReceiveAll(), EndsWith("\r\n\r\nhello"));
}

TEST_F(HttpServerTest, KeepsAConnectionOfHttp10OnlyWhenAsked) {
  Begin();
  EXPECT_THAT(Call().Send("GET / HTTP/1.0\r\n\r\n").ReceiveAll(), HasSubstr("Connection: close\r\n"));
  const std::string answers =
      Call().Send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET / HTTP/1.0\r\n\r\n").ReceiveAll();
  EXPECT_EQ(CountOf("HTTP/1.1 200 OK\r\n", answers), 2);
  EXPECT_THAT(answers, HasSubstr("Connection: keep-alive\r\n"));
}

TEST_F(HttpServerTest, AnswersARequestWithABodyWithoutReadingItAndCloses) {
  Begin();
  const std::string body(200'000, 'b');
  const std::string answer =
      Call().Send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 200000\r\n\r\n" + body).ReceiveAll();
  EXPECT_EQ(CountOf("HTTP/1.1 ", answer), 1);
  EXPECT_THAT(answer, HasSubstr("Connection: close\r\n"));
  const std::string chunked =
      Call().Send("GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + kGet).ReceiveAll();
  EXPECT_EQ(CountOf("HTTP/1.1 ", chunked), 1);
}

TEST_F(HttpServerTest, RefusesRequestsThatAreNotHttp) {
  Begin();
  for (const std::string junk : {"\x16\x03\x01\x02\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/1.1\r\nno colon\r\n\r\n",
                                 "GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
                                 "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n", "GET / HTTP/1.9\r\nHost: a\r\n\r\n",
                                 "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n"}) {
    EXPECT_THAT(Call().Send(junk).ReceiveAll(), StartsWith("HTTP/1.1 400 Bad Request\r\n")) << junk;
  }
}

TEST_F(HttpServerTest, RefusesAHeadThatIsTooLong) {
  Begin({.head = 4096});
  const std::string answer =
      Call().Send("GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(8192, 'x') + "\r\n\r\n").ReceiveAll();
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 431 "));
  EXPECT_THAT(Call().Send(kLastGet).ReceiveAll(), EndsWith("hello"));
}

TEST_F(HttpServerTest, RefusesAHeadWithTooManyFields) {
  Begin();
  const auto ask = [&](int fields) {
    std::string head = "GET /hello HTTP/1.1\r\nHost: a\r\nConnection: close\r\n";
    for (int i = 2; i < fields; ++i) head += "a:\r\n";
    return Call().Send(head + "\r\n").ReceiveAll();
  };
  EXPECT_THAT(ask(100), EndsWith("hello"));
  EXPECT_THAT(ask(101), StartsWith("HTTP/1.1 431 "));
  EXPECT_THAT(ask(3000), StartsWith("HTTP/1.1 431 "));
}

TEST_F(HttpServerTest, EndsAConnectionWhoseHeadNeverEnds) {
  Begin({.head_time = milliseconds(300)});
  Caller caller = Call();
  caller.Send("GET / HTTP/1.1\r\nHost: ");
  // A client that sends a byte now and then gets no more time.
  constexpr int kMostBytes = 1000;
  int sent = 0;
  while (sent < kMostBytes && !caller.HasNews(milliseconds(20)) && caller.TrySend("a")) ++sent;
  EXPECT_EQ(caller.ReceiveAll(), "");
  EXPECT_GT(sent, 1);
  EXPECT_LT(sent, kMostBytes);
}

TEST_F(HttpServerTest, EndsAConnectionThatIsIdle) {
  Begin({.idle_time = milliseconds(100)});
  Caller caller = Call();
  EXPECT_THAT(caller.Send(kGet).ReceiveAll(), EndsWith("hello"));
}

TEST_F(HttpServerTest, EndsAConnectionThatDoesNotReadItsAnswer) {
  Begin({.answer_time = milliseconds(100), .bytes_per_second = 1 << 30});
  Caller caller = Call();
  caller.Send("GET /long HTTP/1.1\r\nHost: a\r\n\r\n");
  // The count of connections is 0, too, before the server accepts this one.  So wait for the beginning of the answer.
  EXPECT_TRUE(caller.HasNews(std::chrono::minutes(1)));
  ASSERT_TRUE(Await([&] { return server_->connections() == 0; }));
  EXPECT_LT(caller.ReceiveAll().size(), 5'000'000U);
}

TEST_F(HttpServerTest, SendsALongBodyCompletely) {
  Begin();
  const std::string answer = Call().Send("GET /long HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").ReceiveAll();
  EXPECT_EQ(answer.size() - answer.find("\r\n\r\n") - 4, 5'000'000U);
}

TEST_F(HttpServerTest, ServesClientsBeyondItsLimitOneAfterTheOther) {
  Begin({.connections = 2});
  Caller first = Call();
  Caller second = Call();
  EXPECT_THAT(first.Send(kGet).ReceiveUntil(kGreeting), EndsWith("hello"));
  EXPECT_THAT(second.Send(kGet).ReceiveUntil(kGreeting), EndsWith("hello"));
  Caller third = Call();
  third.Send(kGet);
  EXPECT_EQ(server_->connections(), 2U);
  first.CloseSendingSide();
  EXPECT_THAT(third.ReceiveUntil(kGreeting), EndsWith("hello"));
}

TEST_F(HttpServerTest, RefusesAClientThatAsksTooOften) {
  Begin({.rate = {.per_second = 0.001, .burst = 2}});
  EXPECT_THAT(Call().Send(kLastGet).ReceiveAll(), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(Call().Send(kLastGet).ReceiveAll(), StartsWith("HTTP/1.1 200 "));
  const std::string refusal = Call().Send(kLastGet).ReceiveAll();
  EXPECT_THAT(refusal, StartsWith("HTTP/1.1 503 "));
  EXPECT_THAT(refusal, HasSubstr("Retry-After: 1\r\n"));
}

TEST_F(HttpServerTest, UsesTheNewestHandlerOnOldConnectionsToo) {
  Begin();
  Caller caller = Call();
  EXPECT_THAT(caller.Send(kGet).ReceiveUntil(kGreeting), EndsWith("hello"));
  auto owned = std::make_shared<const std::string>("other");
  server_->SetHandler([owned](const IncomingRequest&) { return HttpAnswer{.body = owned}; });
  EXPECT_THAT(caller.Send(kGet).ReceiveUntil("other"), EndsWith("other"));
  server_->SetHandler(Greet);
  EXPECT_THAT(caller.Send(kGet).ReceiveUntil(kGreeting), EndsWith("hello"));
  EXPECT_EQ(owned.use_count(), 1);
}

TEST_F(HttpServerTest, PassesHeadersAndTheClientsAddressToTheHandler) {
  std::string received;
  Begin({}, [&](const IncomingRequest& request) {
    received = std::string(request.Find("accept").value_or("-")) + "|" + std::string(request.Find("X").value_or("-")) +
               "|" + std::string(request.Find("absent").value_or("-")) + "|" + std::string(request.peer);
    return HttpAnswer{};
  });
  Call()
      .Send("GET / HTTP/1.1\r\nHost: a\r\nAccept:  one \r\nAccept: two\r\nx: y\r\nConnection: close\r\n\r\n")
      .ReceiveAll();
  EXPECT_THAT(received, StartsWith("one|y|-|127.0.0.1:"));
}

TEST_F(HttpServerTest, KnowsAnIpv4ClientByItsAddressOnAnySocket) {
  std::string peer;
  server_ =
      ValueOf(HttpServer::Begin({.listen = ValueOf(ParseListenAddress(":0"))}, [&](const IncomingRequest& request) {
        peer = request.peer;
        return HttpAnswer{};
      }));
  Call().Send(kLastGet).ReceiveAll();
  EXPECT_THAT(peer, StartsWith("127.0.0.1:"));
}

TEST_F(HttpServerTest, FinishesAnAnswerThatIsUnderWayWhenItStops) {
  Begin({.stop_time = std::chrono::minutes(10)});
  Caller idle = Call();
  EXPECT_THAT(idle.Send(kGet).ReceiveUntil(kGreeting), EndsWith("hello"));
  Caller busy = Call();
  busy.Send("GET /long HTTP/1.1\r\nHost: a\r\n\r\n");
  const std::string first = busy.ReceiveUntil("x");
  std::thread stop([&] { server_.reset(); });
  EXPECT_EQ(idle.ReceiveAll(), "");
  const std::string all = first + busy.ReceiveAll();
  EXPECT_EQ(all.size() - all.find("\r\n\r\n") - 4, 5'000'000U);
  stop.join();
}

TEST_F(HttpServerTest, StopsInTimeEvenIfClientsHang) {
  constexpr auto kLong = std::chrono::minutes(3);
  Begin({.head_time = kLong, .answer_time = kLong, .stop_time = milliseconds(100)});
  Caller stuck = Call();
  stuck.Send("GET /long HTTP/1.1\r\nHost: a\r\n\r\n").ReceiveUntil("x");
  Caller half = Call();
  half.Send("GET /");
  ASSERT_TRUE(Await([&] { return server_->connections() == 2; }));
  const auto began = std::chrono::steady_clock::now();
  server_.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::minutes(1));
}

// A stream whose pieces the test gives.
class Pieces final : public HttpStream {
 public:
  void Add(std::string piece) {
    std::function<void()> wake;
    {
      const std::lock_guard lock(mutex_);
      pieces_.push_back(std::make_shared<const std::string>(std::move(piece)));
      wake = std::exchange(wake_, nullptr);
    }
    if (wake) wake();
  }
  void End() {
    std::function<void()> wake;
    {
      const std::lock_guard lock(mutex_);
      is_over_ = true;
      wake = std::exchange(wake_, nullptr);
    }
    if (wake) wake();
  }
  bool IsOver() const override {
    const std::lock_guard lock(mutex_);
    return is_over_ && pieces_.empty();
  }
  std::shared_ptr<const std::string> Next(std::function<void()> wake) override {
    const std::lock_guard lock(mutex_);
    if (pieces_.empty()) {
      wake_ = std::move(wake);
      return nullptr;
    }
    auto piece = std::move(pieces_.front());
    pieces_.pop_front();
    return piece;
  }

 private:
  mutable std::mutex mutex_;
  std::deque<std::shared_ptr<const std::string>> pieces_;
  std::function<void()> wake_;
  bool is_over_ = false;
};

class HttpStreamTest : public HttpServerTest {
 protected:
  void BeginStream(HttpServerLimits limits = {}) {
    Begin(limits, [pieces = pieces_](const IncomingRequest&) { return HttpAnswer{.stream = pieces}; });
  }

  std::shared_ptr<Pieces> pieces_ = std::make_shared<Pieces>();
};

TEST_F(HttpStreamTest, SendsEachPieceWhenItIsThere) {
  BeginStream();
  pieces_->Add("first;");
  Caller caller = Call();
  const std::string head = caller.Send(kGet).ReceiveUntil("first;");
  EXPECT_THAT(head, HasSubstr("Connection: close\r\n"));
  EXPECT_THAT(head, Not(HasSubstr("Content-Length")));
  for (int i = 0; i < 100; ++i) {
    const std::string piece = std::to_string(i) + ";";
    pieces_->Add(piece);
    EXPECT_EQ(caller.ReceiveUntil(";"), piece);
  }
  pieces_->Add(std::string(5'000'000, 'x') + ";");
  EXPECT_EQ(caller.ReceiveUntil(";").size(), 5'000'001U);
}

TEST_F(HttpStreamTest, EndsWhenTheClientClosesItsConnection) {
  BeginStream();
  pieces_->Add("first;");
  {
    Caller caller = Call();
    caller.Send(kGet).ReceiveUntil("first;");
    EXPECT_EQ(server_->connections(), 1U);
  }
  ASSERT_TRUE(Await([&] { return server_->connections() == 0; }));
}

TEST_F(HttpStreamTest, EndsAfterATimeWithoutAPiece) {
  BeginStream({.stream_idle_time = milliseconds(50)});
  EXPECT_THAT(Call().Send(kGet).ReceiveAll(), EndsWith("\r\n\r\n"));
}

TEST_F(HttpStreamTest, EndsForAClientThatDoesNotRead) {
  BeginStream({.answer_time = milliseconds(50)});
  Caller caller = Call();
  caller.Send(kGet).ReceiveUntil("\r\n\r\n");
  pieces_->Add(std::string(50'000'000, 'x'));
  ASSERT_TRUE(Await([&] { return server_->connections() == 0; }));
}

TEST_F(HttpStreamTest, EndsAtOnceWhenTheServerStops) {
  BeginStream({.stop_time = std::chrono::minutes(10)});
  Caller caller = Call();
  caller.Send(kGet).ReceiveUntil("\r\n\r\n");
  server_.reset();
  EXPECT_EQ(caller.ReceiveAll(), "");
}

TEST_F(HttpStreamTest, EndsForAClientThatSendsWithoutEnd) {
  BeginStream({.stream_idle_time = milliseconds(200)});
  Caller caller = Call();
  caller.Send(kGet).ReceiveUntil("\r\n\r\n");
  const Flood flood(caller);
  ASSERT_TRUE(Await([&] { return server_->connections() == 0; }));
}

TEST_F(HttpStreamTest, HasOnlyAHeadForHead) {
  BeginStream();
  pieces_->Add("first;");
  EXPECT_THAT(Call().Send("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n").ReceiveAll(), EndsWith("\r\n\r\n"));
}

TEST_F(HttpStreamTest, EndsTheConnectionAfterItsLastPiece) {
  BeginStream();
  pieces_->Add("first;");
  Caller caller = Call();
  caller.Send(kGet).ReceiveUntil("first;");
  pieces_->Add("last;");
  pieces_->End();
  EXPECT_EQ(caller.ReceiveAll(), "last;");
  caller.Leave();
  ASSERT_TRUE(Await([&] { return server_->connections() == 0; }));
}

// A handler that answers /now at once, and keeps the later answers of all other requests for the test.
class LaterAnswerTest : public HttpServerTest {
 protected:
  void BeginLater(HttpServerLimits limits = {}, int threads = 2) {
    Begin(
        limits,
        [this](const IncomingRequest& request) {
          if (request.target == "/now") return Greet(request);
          auto later = std::make_shared<LaterAnswer>();
          const std::lock_guard lock(mutex_);
          waiting_.push_back(later);
          return HttpAnswer{.later = later};
        },
        threads);
  }
  // Waits for the next request that is to be answered later.
  std::shared_ptr<LaterAnswer> NextWaiting() {
    if (!Await([&] { return IsAnyWaiting(); })) throw std::runtime_error("no request waits for a later answer");
    const std::lock_guard lock(mutex_);
    auto first = std::move(waiting_.front());
    waiting_.pop_front();
    return first;
  }
  // Lets a server with one thread handle everything that it has received.
  void LetItGoOn() {
    EXPECT_THAT(Call().Send("GET /now HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").ReceiveAll(),
                EndsWith("hello"));
  }
  bool IsAnyWaiting() {
    const std::lock_guard lock(mutex_);
    return !waiting_.empty();
  }
  static LaterAnswer::Make Text(std::string text) {
    return [body = std::make_shared<const std::string>(std::move(text))] { return HttpAnswer{.body = body}; };
  }

 private:
  std::mutex mutex_;
  std::deque<std::shared_ptr<LaterAnswer>> waiting_;
};

TEST_F(LaterAnswerTest, GoesToTheClientThatWaitsForIt) {
  BeginLater();
  Caller first = Call();
  first.Send(kGet);
  const auto for_first = NextWaiting();
  Caller second = Call();
  second.Send(kLastGet);
  const auto for_second = NextWaiting();
  EXPECT_TRUE(for_first->IsAwaited());
  for_second->Complete(Text("two;"));
  EXPECT_THAT(second.ReceiveAll(), EndsWith("\r\n\r\ntwo;"));
  for_first->Complete(Text("one;"));
  EXPECT_THAT(first.ReceiveUntil("one;"), StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_FALSE(for_first->IsAwaited());
  // The connection is kept for the next request.
  first.Send("GET /now HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_THAT(first.ReceiveUntil(kGreeting), EndsWith("hello"));
}

TEST_F(LaterAnswerTest, MayBeCompletedBeforeTheHandlerReturns) {
  Begin({}, [](const IncomingRequest&) {
    auto later = std::make_shared<LaterAnswer>();
    later->Complete(Text("early;"));
    return HttpAnswer{.later = later};
  });
  EXPECT_THAT(Call().Send(kLastGet).ReceiveAll(), EndsWith("\r\n\r\nearly;"));
}

TEST_F(LaterAnswerTest, CountsOnlyTheFirstTime) {
  BeginLater();
  Caller caller = Call();
  caller.Send(kLastGet);
  const auto later = NextWaiting();
  later->Complete(Text("first;"));
  later->Complete(Text("second;"));
  EXPECT_THAT(caller.ReceiveAll(), EndsWith("\r\n\r\nfirst;"));
}

TEST_F(LaterAnswerTest, HasOnlyItsLengthForHead) {
  BeginLater();
  Caller caller = Call();
  caller.Send("HEAD / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  NextWaiting()->Complete(Text("12345"));
  const std::string answer = caller.ReceiveAll();
  EXPECT_THAT(answer, HasSubstr("Content-Length: 5\r\n"));
  EXPECT_THAT(answer, EndsWith("\r\n\r\n"));
}

TEST_F(LaterAnswerTest, MayBeAStream) {
  BeginLater();
  Caller caller = Call();
  caller.Send(kGet);
  const auto pieces = std::make_shared<Pieces>();
  NextWaiting()->Complete([pieces] { return HttpAnswer{.stream = pieces}; });
  pieces->Add("first;");
  EXPECT_THAT(caller.ReceiveUntil("first;"), EndsWith("\r\n\r\nfirst;"));
}

TEST_F(LaterAnswerTest, LeavesTheThreadToOtherClients) {
  BeginLater({}, 1);
  Caller waiting = Call();
  waiting.Send(kGet);
  const auto later = NextWaiting();
  EXPECT_THAT(Call().Send("GET /now HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").ReceiveAll(), EndsWith("hello"));
}

TEST_F(LaterAnswerTest, IsNotAwaitedWhenTheClientHasLeft) {
  BeginLater();
  std::shared_ptr<LaterAnswer> later;
  {
    Caller caller = Call();
    caller.Send(kGet);
    later = NextWaiting();
  }
  ASSERT_TRUE(Await([&] { return server_->connections() == 0; }));
  EXPECT_FALSE(later->IsAwaited());
  auto owned = std::make_shared<const std::string>("too late");
  later->Complete([owned] { return HttpAnswer{.body = owned}; });
  EXPECT_EQ(owned.use_count(), 1);
}

TEST_F(LaterAnswerTest, KeepsTheOrderOfRequestsThatComeTogether) {
  BeginLater({}, 1);
  Caller caller = Call();
  caller.Send("GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /now HTTP/1.1\r\nHost: a\r\n\r\n" + kLastGet);
  const auto first = NextWaiting();
  LetItGoOn();
  EXPECT_FALSE(caller.HasNews(milliseconds(0)));
  EXPECT_FALSE(IsAnyWaiting()) << "the next requests wait for the first answer";
  first->Complete(Text("one;"));
  EXPECT_THAT(caller.ReceiveUntil(kGreeting), HasSubstr("\r\n\r\none;HTTP/1.1 200 OK\r\n"));
  NextWaiting()->Complete(Text("three;"));
  EXPECT_THAT(caller.ReceiveAll(), EndsWith("\r\n\r\nthree;"));
}

TEST_F(LaterAnswerTest, KeepsRequestsThatComeMeanwhile) {
  BeginLater();
  Caller caller = Call();
  caller.Send(kGet);
  const auto first = NextWaiting();
  caller.Send("GET /now HTTP/1.1\r\nHo");
  caller.Send("st: a\r\nConnection: close\r\n\r\n");
  first->Complete(Text("one;"));
  EXPECT_THAT(caller.ReceiveAll(), HasSubstr("one;HTTP/1.1 200 OK\r\n"));
}

TEST_F(LaterAnswerTest, ComesBeforeManyRequestsThatComeMeanwhile) {
  BeginLater({.head = 4096}, 1);
  Caller caller = Call();
  caller.Send(kGet);
  const auto later = NextWaiting();
  // The first ten requests reach the server before it goes on.
  const std::string one = "GET /now HTTP/1.1\r\nHost: a\r\n\r\n";
  std::string many;
  for (int i = 0; i < 49'990; ++i) many += one;
  for (int i = 0; i < 10; ++i) caller.Send(one);
  std::thread ask([&] { caller.Send(many + "GET /now HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"); });
  LetItGoOn();
  EXPECT_FALSE(caller.HasNews(milliseconds(0)));
  EXPECT_TRUE(later->IsAwaited());
  later->Complete(Text("one;"));
  EXPECT_EQ(CountOf(kGreeting, caller.ReceiveAll()), 50'001);
  ask.join();
}

TEST_F(LaterAnswerTest, IsReplacedWhenTheTimeIsUp) {
  BeginLater({.later_answer_time = milliseconds(50)});
  Caller caller = Call();
  const std::string answer = caller.Send(kGet).ReceiveAll();
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 503 Service Unavailable\r\n"));
  EXPECT_THAT(answer, HasSubstr("Retry-After: 1\r\n"));
  EXPECT_FALSE(NextWaiting()->IsAwaited());
}

TEST_F(LaterAnswerTest, HasItsOwnTimeAlsoAfterAShorterOne) {
  BeginLater({.head_time = milliseconds(50), .later_answer_time = std::chrono::minutes(10)}, 1);
  Caller caller = Call();
  caller.Send(kGet);
  const auto later = NextWaiting();
  // A head that began after the later answer has used up its own, shorter time.
  EXPECT_EQ(Call().Send("GET /").ReceiveAll(), "");
  EXPECT_FALSE(caller.HasNews(milliseconds(0)));
  later->Complete(Text("one;"));
  EXPECT_THAT(caller.ReceiveUntil("one;"), EndsWith("one;"));
}

TEST_F(LaterAnswerTest, IsAwaitedByALimitedNumberOfRequestsOfOneClient) {
  BeginLater({.later_answers_per_address = 2});
  Caller first = Call();
  first.Send(kGet);
  const auto for_first = NextWaiting();
  Caller second = Call();
  second.Send(kGet);
  const auto for_second = NextWaiting();
  EXPECT_THAT(Call().Send(kGet).ReceiveAll(), StartsWith("HTTP/1.1 503 "));
  EXPECT_FALSE(NextWaiting()->IsAwaited());
  Caller other(server_->address().port, INADDR_LOOPBACK + 1);
  other.Send(kGet);
  EXPECT_TRUE(NextWaiting()->IsAwaited());
  // An answer makes room for the next request.
  for_first->Complete(Text("one;"));
  first.ReceiveUntil("one;");
  Caller third = Call();
  third.Send(kGet);
  EXPECT_TRUE(NextWaiting()->IsAwaited());
}

TEST_F(LaterAnswerTest, CountsForItsClientUntilNobodyKeepsTheRequest) {
  BeginLater({.later_answers_per_address = 2});
  std::vector<std::shared_ptr<LaterAnswer>> kept;
  for (int i = 0; i < 2; ++i) {
    Caller caller = Call();
    caller.Send(kGet);
    kept.push_back(NextWaiting());
  }
  ASSERT_TRUE(Await([&] { return server_->connections() == 0; }));
  EXPECT_THAT(Call().Send(kGet).ReceiveAll(), StartsWith("HTTP/1.1 503 "));
  EXPECT_FALSE(NextWaiting()->IsAwaited());
  // The first waiting answer is completed, and the second one is dropped.
  kept.front()->Complete(Text("one;"));
  Caller second = Call();
  second.Send(kGet);
  const auto for_second = NextWaiting();
  EXPECT_TRUE(for_second->IsAwaited());
  kept.pop_back();
  Caller third = Call();
  third.Send(kGet);
  const auto for_third = NextWaiting();
  EXPECT_TRUE(for_third->IsAwaited());
}

TEST_F(LaterAnswerTest, IsReplacedWhenTheServerStops) {
  BeginLater({.stop_time = std::chrono::minutes(10)});
  Caller caller = Call();
  caller.Send(kGet);
  const auto later = NextWaiting();
  std::thread stop([&] { server_.reset(); });
  EXPECT_THAT(caller.ReceiveAll(), StartsWith("HTTP/1.1 503 "));
  caller.Leave();
  stop.join();
  EXPECT_FALSE(later->IsAwaited());
  later->Complete(Text("after the end"));
}

TEST_F(LaterAnswerTest, MayBeCompletedWhileTheServerStopsOrTheClientLeaves) {
  for (int i = 0; i < 50; ++i) {
    BeginLater({}, 1);
    std::optional<Caller> caller(Call());
    caller->Send(kGet);
    const auto later = NextWaiting();
    std::thread complete([later] { later->Complete(Text("one;")); });
    if (i % 2 == 0) caller.reset();
    std::thread stop([&] { server_.reset(); });
    caller.reset();
    complete.join();
    stop.join();
  }
}

TEST(KeptRequest, OwnsTheTextsOfARequest) {
  std::optional<KeptRequest> kept;
  {
    const std::string text = "GET /x 127.0.0.1:1 Accept */*";
    const std::string_view view = text;
    kept.emplace(IncomingRequest{.method = view.substr(0, 3),
                                 .target = view.substr(4, 2),
                                 .peer = view.substr(7, 11),
                                 .headers = {{view.substr(19, 6), view.substr(26)}}});
  }
  const IncomingRequest request = kept->View();
  EXPECT_EQ(request.method, "GET");
  EXPECT_EQ(request.target, "/x");
  EXPECT_EQ(request.peer, "127.0.0.1:1");
  EXPECT_EQ(request.Find("accept"), "*/*");
}

TEST_F(HttpServerTest, ReportsWhyItCannotListen) {
  const std::uint16_t port = Begin();
  const auto second = HttpServer::Begin({.listen = {"127.0.0.1", port}}, Greet);
  EXPECT_EQ(MessageOf(second), "listening at 127.0.0.1:" + std::to_string(port) + ": bind: Address already in use");
}

TEST_F(HttpServerTest, LimitsTheConnectionsOfOneAddress) {
  Begin({.connections_per_address = 2});
  Caller one = Call();
  Caller two = Call();
  one.Send(kGet).ReceiveUntil(kGreeting);
  two.Send(kGet).ReceiveUntil(kGreeting);
  EXPECT_EQ(Call().ReceiveAll(), "");
  EXPECT_THAT(Caller(server_->address().port, INADDR_LOOPBACK + 1).Send(kLastGet).ReceiveAll(), EndsWith(kGreeting));
  one.Send(kLastGet).ReceiveAll();
  ASSERT_TRUE(Await([&] { return server_->connections() <= 1; }));
  EXPECT_THAT(Call().Send(kLastGet).ReceiveAll(), EndsWith(kGreeting));
}

TEST(ConnectionsWithin, LeaveAQuarterOfTheDescriptorsToTheRestOfTheProgram) {
  EXPECT_EQ(ConnectionsWithin(4'096, 1'048'576), 4'096U);
  EXPECT_EQ(ConnectionsWithin(4'096, std::numeric_limits<std::uint64_t>::max()), 4'096U);
  EXPECT_EQ(ConnectionsWithin(4'096, 1'024), 128U);
  EXPECT_EQ(ConnectionsWithin(64, 1'024), 64U);
  EXPECT_EQ(ConnectionsWithin(4'096, 0), 1U);
}

// Answers in a process of its own, because nobody can raise the hard limit again.
[[noreturn]] void ServeWithFewDescriptors() {
  const rlimit few = {.rlim_cur = 40, .rlim_max = 80};
  if (::setrlimit(RLIMIT_NOFILE, &few) != 0) ::_exit(1);
  const auto server = ValueOf(HttpServer::Begin({.listen = {"127.0.0.1", 0}}, Greet));
  std::deque<Caller> callers;
  for (int i = 0; i < 20; ++i) callers.emplace_back(server->address().port).Send(kGet);
  for (int i = 0; i < 10; ++i) callers[static_cast<std::size_t>(i)].ReceiveUntil(kGreeting);
  const bool is_full = server->connections() == 10 && !callers.back().HasNews(milliseconds(50));
  rlimit now = {};
  ::getrlimit(RLIMIT_NOFILE, &now);
  ::_exit(is_full && now.rlim_cur == 80 ? 0 : 2);
}

TEST_F(HttpServerTest, LeavesDescriptorsToTheRestOfTheProgram) {
  EXPECT_EXIT(ServeWithFewDescriptors(), testing::ExitedWithCode(0), "");
}

TEST_F(HttpServerTest, DoesNotBeginIfNoThreadCanBeStarted) {
  std::string message;
  WithoutMoreThreads([&] {
    message = MessageOf(HttpServer::Begin({.listen = {"127.0.0.1", 0}, .threads = 2}, Greet));
  });
  EXPECT_THAT(message, StartsWith("making an HTTP server: starting a thread"));
  EXPECT_THAT(message, EndsWith("Resource temporarily unavailable"));
}

TEST_F(HttpServerTest, DoesNotBeginIfNoDescriptorCanBeOpened) {
  std::string message;
  InThreadWith(RefuseMoreEpolls, [&] {
    message = MessageOf(HttpServer::Begin({.listen = {"127.0.0.1", 0}, .threads = 2}, Greet));
  });
  EXPECT_EQ(message, "making an HTTP server: epoll: Too many open files");
}

// Tests with TLS, by a client that verifies everything.
class HttpsServerTest : public HttpServerTest {
 protected:
  HttpsServerTest() { identity_ = Identity("server"); }

  std::shared_ptr<const TlsIdentity> Identity(const std::string& name) {
    return ValueOf(TlsIdentity::Create(certificates_.Text(name + ".crt"), certificates_.Text(name + ".key")));
  }
  Result<HttpResponse> Fetch(HttpClient& client, const std::string& path) {
    std::optional<Result<HttpResponse>> answer;
    const std::string url = "https://127.0.0.1:" + std::to_string(server_->address().port) + path;
    const HttpCall call = client.Fetch({.url = ValueOf(Url::Parse(url))}, [&](Result<HttpResponse> response) {
      answer = std::move(response);
      loop_->Stop();
    });
    TRY(event::RunPatiently(*loop_));
    return *std::move(answer);
  }
  HttpClient Client() {
    return ValueOf(HttpClient::Create(
        *loop_, {.tls = {.authorities = PemFile{certificates_.Path("ca.crt")}}, .proxy = ProxySettings()}));
  }

  const Certificates& certificates_ = Certificates::Get();
  std::unique_ptr<event::Loop> loop_ = ValueOf(event::Loop::Create());
};

TEST_F(HttpsServerTest, ServesAClientThatOffersHttp2) {
  Begin();
  HttpClient client = Client();
  const HttpResponse response = ValueOf(Fetch(client, "/hello"));
  EXPECT_EQ(response.body, "hello");
  EXPECT_EQ(response.head.version, HttpVersion::kHttp1);
  EXPECT_EQ(ValueOf(Fetch(client, "/long")).body.size(), 5'000'000U);
}

TEST_F(HttpsServerTest, GivesNewConnectionsTheRenewedCertificate) {
  Begin();
  HttpClient old_client = Client();
  EXPECT_EQ(ValueOf(Fetch(old_client, "/hello")).body, "hello");
  server_->SetIdentity(Identity("elsewhere"));
  // The old connection still works; a new connection gets the certificate with another name.
  EXPECT_EQ(ValueOf(Fetch(old_client, "/hello")).body, "hello");
  HttpClient new_client = Client();
  EXPECT_THAT(MessageOf(Fetch(new_client, "/hello")), HasSubstr("127.0.0.1"));
}

TEST_F(HttpsServerTest, SendsNothingToAClientWithoutTls) {
  Begin();
  EXPECT_THAT(Call().Send(kGet).ReceiveAll(), Not(HasSubstr("hello")));
}

TEST_F(HttpsServerTest, EndsAConnectionWithoutAHandshake) {
  Begin({.head_time = milliseconds(100)});
  EXPECT_EQ(Call().ReceiveAll(), "");
}

}  // namespace
}  // namespace pintle::net
