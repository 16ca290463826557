// SPDX-License-Identifier: Apache-2.0
#include "net/http_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <optional>

#include "event/loop.h"
#include "support/expect.h"
#include "unit/event/patience.h"
#include "unit/net/servers.h"

namespace pintle::net {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;

template <typename T>
std::optional<ErrorKind> KindOf(const Result<T>& result) {
  return result ? std::nullopt : std::optional(result.error().kind());
}

class HttpClientTest : public testing::Test {
 protected:
  HttpClient& client() {
    if (!client_) client_ = ValueOf(HttpClient::Create(*loop_, {.tls = tls_, .proxy = proxy_}));
    return *client_;
  }

  Result<HttpResponse> Fetch(HttpRequest request) {
    std::optional<Result<HttpResponse>> answer;
    const HttpCall call = client().Fetch(std::move(request), [&](Result<HttpResponse> response) {
      answer = std::move(response);
      loop_->Stop();
    });
    if (Result<> waited = event::RunPatiently(*loop_); !waited) return std::move(waited).error();
    return *std::move(answer);
  }
  Result<HttpResponse> Fetch(const Url& url) { return Fetch({.url = url}); }
  std::string BodyFrom(HttpRequest request) { return ValueOf(Fetch(std::move(request))).body; }
  std::string BodyFrom(const Url& url) { return BodyFrom(HttpRequest{.url = url}); }

  // Returns the outcome of a request whose answer goes on only after the client has got the first piece.
  Result<> OutcomeAfterGoAhead(const Server& server, const std::string& path) {
    std::optional<Result<>> outcome;
    const HttpCall call = client().Start({.url = server.At(path)}, {.head = [](const HttpHead&) {},
                                                                    .body = [&](std::string_view) { server.GoAhead(); },
                                                                    .end =
                                                                        [&](Result<> end) {
                                                                          outcome = std::move(end);
                                                                          loop_->Stop();
                                                                        }});
    TRY(event::RunPatiently(*loop_));
    return *std::move(outcome);
  }

  // Errors of this kind are worth a retry; those of ExpectInvalid() are not.
  void ExpectUnavailable(const Result<HttpResponse>& result, const std::string& message) {
    EXPECT_EQ(MessageOf(result), message);
    EXPECT_EQ(KindOf(result), ErrorKind::kUnavailable);
  }
  void ExpectInvalid(const Result<HttpResponse>& result, const std::string& message) {
    EXPECT_EQ(MessageOf(result), message);
    EXPECT_EQ(KindOf(result), ErrorKind::kInvalid);
  }

  const Certificates& certificates_ = Certificates::Get();
  std::unique_ptr<event::Loop> loop_ = ValueOf(event::Loop::Create());
  TlsSettings tls_ = {.authorities = PemFile{certificates_.Path("ca.crt")}};
  ProxySettings proxy_;
  std::optional<HttpClient> client_;
};

// A loopback socket without a server behind it.
class Unserved {
 public:
  enum class Manner { kRefuses, kAcceptsAndIsSilent };
  explicit Unserved(Manner manner) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof(address);
    if (::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), length) != 0) std::abort();
    if (manner == Manner::kAcceptsAndIsSilent && ::listen(socket_.get(), 1) != 0) std::abort();
    ::getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&address), &length);
    name_ = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  }
  const std::string& Name() const { return name_; }
  Url At(const std::string& scheme) const { return ValueOf(Url::Parse(scheme + "://" + name_ + "/")); }

 private:
  UniqueFd socket_;
  std::string name_;
};

using Answers = HttpClientTest;

TEST_F(Answers, HaveStatusHeadersAndBody) {
  const Server server(Server::Tls("server"));
  const HttpResponse response = ValueOf(Fetch(server.At("/hello")));
  EXPECT_EQ(response.head.status, 200);
  EXPECT_EQ(response.head.version, HttpVersion::kHttp1);
  EXPECT_EQ(response.head.Find("x-greeting"), "good  day");
  EXPECT_EQ(response.head.Find("x-nothing"), std::nullopt);
  EXPECT_EQ(response.body, "hello");
}

TEST_F(Answers, OfAnyStatusAreNotErrors) {
  const Server server;
  const HttpResponse response = ValueOf(Fetch(server.At("/status/503")));
  EXPECT_EQ(response.head.status, 503);
  EXPECT_EQ(response.body, "as you wish");
}

TEST_F(Answers, ToHeadHaveNoBody) {
  const Server server;
  const HttpResponse response = ValueOf(Fetch({.method = "HEAD", .url = server.At("/hello")}));
  EXPECT_EQ(response.head.status, 200);
  EXPECT_EQ(response.body, "");
}

TEST_F(Answers, FollowInformationalAnswers) {
  const Server server;
  const HttpResponse response = ValueOf(Fetch(server.At("/early-hints")));
  EXPECT_EQ(response.head.status, 200);
  EXPECT_EQ(response.head.Find("X-Early"), std::nullopt);
}

TEST_F(Answers, ComeInPiecesBeforeTheyAreComplete) {
  const Server server(Server::Tls("server"));
  std::vector<std::string> calls;
  const HttpCall call =
      client().Start({.url = server.At("/stream")},
                     {
                         .head = [&](const HttpHead& head) { calls.push_back("head " + std::to_string(head.status)); },
                         .body =
                             [&](std::string_view piece) {
                               calls.emplace_back(piece);
                               if (piece == "first") server.GoAhead();  // The server has waited for this.
                             },
                         .end =
                             [&](Result<> outcome) {
                               EXPECT_TRUE(Succeeded(outcome));
                               calls.emplace_back("end");
                               loop_->Stop();
                             },
                     });
  ASSERT_TRUE(Succeeded(event::RunPatiently(*loop_)));
  EXPECT_EQ(calls, (std::vector<std::string>{"head 200", "first", "second", "end"}));
}

TEST_F(Answers, AreDecompressedOnRequest) {
  const Server server;
  EXPECT_EQ(BodyFrom({.url = server.At("/gzip/10000"), .compression = Compression::kAccepted}),
            std::string(10000, 'x'));
  EXPECT_NE(BodyFrom(server.At("/gzip/10000")), std::string(10000, 'x'));
  ExpectInvalid(Fetch({.url = server.At("/broken-gzip"), .compression = Compression::kAccepted}),
                "the body from " + server.Name() +
                    " cannot be decompressed: Error while processing content unencoding: incorrect header check");
}

TEST_F(Answers, HaveALimitOfLength) {
  const Server server;
  const std::string too_long = "the body from " + server.Name() + " is longer than the limit of 1000 bytes";
  for (const std::string kind : {"/sized/", "/chunked/"}) {
    EXPECT_EQ(BodyFrom({.url = server.At(kind + "1000"), .body_limit = 1000}), std::string(1000, 'x'));
    ExpectInvalid(Fetch({.url = server.At(kind + "1001"), .body_limit = 1000}), too_long);
  }
}

TEST_F(Answers, HaveALimitOfDecompressedLength) {
  const Server server;
  ExpectInvalid(Fetch({.url = server.At("/gzip/1000000"), .body_limit = 10000, .compression = Compression::kAccepted}),
                "the body from " + server.Name() + " is longer than the limit of 10000 bytes");
}

TEST_F(Answers, WithAnEndlessHeadAreRefused) {
  const Server server;
  const auto result = Fetch(server.At("/endless-head"));
  ASSERT_FALSE(result);
  EXPECT_EQ(KindOf(result), ErrorKind::kInvalid);
}

using Requests = HttpClientTest;

TEST_F(Requests, CarryMethodHeadersTokenAndBody) {
  const Server server;
  const std::string echo = BodyFrom({.method = "PATCH",
                                     .url = server.At("/echo?fieldManager=pintle"),
                                     .headers = {{"Content-Type", "application/merge-patch+json"}, {"X-Empty", ""}},
                                     .body = R"({"spec":{}})",
                                     .bearer_token = "sesame"});
  EXPECT_THAT(echo, StartsWith("PATCH /echo?fieldManager=pintle HTTP/1.1\r\n"));
  EXPECT_THAT(echo, HasSubstr("\r\nContent-Type: application/merge-patch+json\r\n"));
  EXPECT_THAT(echo, HasSubstr("\r\nX-Empty:\r\n"));
  EXPECT_THAT(echo, HasSubstr("\r\nAuthorization: Bearer sesame\r\n"));
  EXPECT_THAT(echo, HasSubstr("\r\nUser-Agent: pintle/"));
  EXPECT_THAT(echo, Not(HasSubstr("Expect:")));
  EXPECT_THAT(echo, EndsWith("\n{\"spec\":{}}"));
}

TEST_F(Requests, WithABodySendNoContentTypeUnlessItIsGiven) {
  const Server server;
  const std::string echo = BodyFrom({.method = "POST", .url = server.At("/echo"), .body = std::string("a\0b", 3)});
  EXPECT_THAT(echo, Not(HasSubstr("Content-Type")));
  EXPECT_THAT(echo, EndsWith(std::string("\na\0b", 4)));
}

TEST_F(Requests, WithoutABodyMayDeleteOrPost) {
  const Server server;
  EXPECT_THAT(BodyFrom({.method = "DELETE", .url = server.At("/echo")}),
              AllOf(StartsWith("DELETE "), Not(HasSubstr("Content-Length"))));
  EXPECT_THAT(BodyFrom({.method = "POST", .url = server.At("/echo")}),
              AllOf(StartsWith("POST "), HasSubstr("Content-Length: 0\r\n")));
}

TEST_F(Requests, ThatSmuggleAnotherRequestAreNotSentAndReportNoSecret) {
  const Server server;
  ExpectInvalid(Fetch({.url = server.At("/echo"), .bearer_token = "secret\r\nX-Other: 1"}),
                "sending a request to " + server.Name() + ": the bearer token has a control character in it");
  ExpectInvalid(Fetch({.url = server.At("/echo"), .headers = {{"Cookie", "secret\nX-Other: 1"}}}),
                "sending a request to " + server.Name() + ": the header Cookie has a control character in it");
  ExpectInvalid(Fetch({.url = server.At("/echo"), .headers = {{"X-Other: 1\r\nX", ""}}}),
                "sending a request to " + server.Name() + ": the name of a header has an invalid character");
  ExpectInvalid(Fetch({.method = "GET / HTTP/1.1\r\nX:", .url = server.At("/echo")}),
                "sending a request to " + server.Name() + ": the method of a request has an invalid character");
}

using Connections = HttpClientTest;

TEST_F(Connections, AreUsedAgain) {
  const Server server(Server::Tls("server"));
  for (int i = 0; i < 20; ++i) EXPECT_EQ(BodyFrom(server.At("/connection")), "1");
}

TEST_F(Connections, ServeManyRequestsAtOnce) {
  const Server server(Server::Tls("server"));
  std::vector<HttpCall> calls;
  int left = 50;
  for (int i = 0; i < 50; ++i) {
    calls.push_back(client().Fetch({.url = server.At("/hello")}, [&](Result<HttpResponse> response) {
      EXPECT_EQ(ValueOf(std::move(response)).body, "hello");
      if (--left == 0) loop_->Stop();
    }));
  }
  EXPECT_TRUE(Succeeded(event::RunPatiently(*loop_)));
}

// HTTP/1.1 cannot have two exchanges at a time on one connection.
TEST_F(Connections, OfHttp11DoNotDelayOtherRequests) {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>(), Server::Tls("server")}) {
    const Server server(arguments);
    const HttpCall endless =
        client().Start({.url = server.At("/stalled")},
                       {.head = [](const HttpHead&) {}, .body = [](std::string_view) {}, .end = [](Result<>) {}});
    EXPECT_EQ(BodyFrom(server.At("/hello")), "hello");
  }
}

TEST_F(Connections, AreReplacedWhenTheClientCertificateChanges) {
  const Server server(Server::Tls("server", {"--clients", certificates_.Path("ca.crt")}));
  TemporaryDirectory directory;
  directory.Write("tls.crt", certificates_.Text("client.crt"));
  directory.Write("tls.key", certificates_.Text("client.key"));
  tls_.client = {.certificate = PemFile{directory / "tls.crt"}, .key = PemFile{directory / "tls.key"}};
  EXPECT_EQ(BodyFrom(server.At("/connection")), "1");
  EXPECT_EQ(BodyFrom(server.At("/connection")), "1");
  directory.Write("tls.crt", certificates_.Text("client.crt") + "\n# renewed\n");
  EXPECT_EQ(BodyFrom(server.At("/connection")), "2");
}

TEST_F(Connections, ThatAreLostAreReplaced) {
  std::optional<Server> server(std::in_place);
  EXPECT_EQ(BodyFrom(server->At("/connection")), "1");
  ExpectUnavailable(Fetch(server->At("/hang-up")),
                    "the connection to " + server->Name() + " broke before any answer: Empty reply from server");
  EXPECT_NE(BodyFrom(server->At("/connection")), "1");
}

using Trust = HttpClientTest;

TEST_F(Trust, MayUseAuthoritiesFromMemory) {
  const Server server(Server::Tls("server"));
  tls_.authorities = PemText{certificates_.Text("ca.crt")};
  EXPECT_EQ(BodyFrom(server.At("/hello")), "hello");
}

TEST_F(Trust, ExcludesOtherAuthorities) {
  const Server server(Server::Tls("server"));
  tls_.authorities = PemFile{certificates_.Path("others/ca.crt")};
  ExpectInvalid(Fetch(server.At("/hello")),
                "the certificate of " + server.Name() +
                    " is not signed by a CA we trust: unable to get local issuer certificate");
}

TEST_F(Trust, DoesNotIncludeTheCaOfTheTestsByDefault) {
  const Server server(Server::Tls("server"));
  tls_.authorities = std::nullopt;
  EXPECT_THAT(MessageOf(Fetch(server.At("/hello"))), HasSubstr(" is not signed by a CA we trust: "));
}

TEST_F(Trust, FollowsAFileOfAuthoritiesThatChanges) {
  const Server server(Server::Tls("server"));
  TemporaryDirectory directory;
  directory.Write("ca.crt", certificates_.Text("others/ca.crt"));
  tls_.authorities = PemFile{directory / "ca.crt"};
  EXPECT_FALSE(Fetch(server.At("/hello")));
  directory.Write("ca.crt", certificates_.Text("others/ca.crt") + certificates_.Text("ca.crt"));
  EXPECT_EQ(BodyFrom(server.At("/hello")), "hello");
}

TEST_F(Trust, FollowsNewSettings) {
  const Server server(Server::Tls("server"));
  EXPECT_EQ(BodyFrom(server.At("/hello")), "hello");
  client().UseTls({.authorities = PemFile{certificates_.Path("others/ca.crt")}});
  EXPECT_FALSE(Fetch(server.At("/hello")));
}

TEST_F(Trust, EndsWhenACertificateExpires) {
  const Server server(Server::Tls("expired"));
  ExpectInvalid(Fetch(server.At("/hello")),
                "the certificate of " + server.Name() + " is no longer valid: certificate has expired");
}

TEST_F(Trust, BeginsWhenACertificateBecomesValid) {
  const Server server(Server::Tls("not-yet"));
  ExpectInvalid(
      Fetch(server.At("/hello")),
      "the certificate of " + server.Name() + " is not valid yet, or our clock is slow: certificate is not yet valid");
}

TEST_F(Trust, IsForTheNamesInACertificate) {
  const Server server(Server::Tls("elsewhere"));
  const std::string port = server.Name().substr(server.Name().find(':'));
  EXPECT_THAT(
      MessageOf(Fetch(server.At("/hello"))),
      AllOf(StartsWith("the certificate of " + server.Name() + " is for another name: "), HasSubstr("127.0.0.1")));
  const auto by_name = Fetch(server.At("/hello", "localhost"));
  EXPECT_THAT(MessageOf(by_name), AllOf(StartsWith("the certificate of localhost" + port + " is for another name: "),
                                        HasSubstr("'localhost'")));
  EXPECT_EQ(KindOf(by_name), ErrorKind::kInvalid);
}

TEST_F(Trust, NeedsNewTls) {
  const Server server(Server::Tls("server", {"--only-tls", "1_1"}));
  const auto result = Fetch(server.At("/hello"));
  EXPECT_THAT(MessageOf(result), StartsWith("the TLS handshake with " + server.Name() + " failed: "));
  EXPECT_EQ(KindOf(result), ErrorKind::kInvalid);
}

TEST_F(Trust, NeedsTls) {
  const Server server;
  const Url https = ValueOf(Url::Parse("https://" + server.Name() + "/hello"));
  EXPECT_THAT(MessageOf(Fetch(https)), StartsWith("the TLS handshake with " + server.Name() + " failed: "));
}

TEST_F(Trust, NeedsAuthoritiesThatCanBeRead) {
  const Server server(Server::Tls("server"));
  tls_.authorities = PemFile{"/nonexistent/ca.crt"};
  EXPECT_EQ(MessageOf(Fetch(server.At("/hello"))),
            "reading the CA certificates for " + server.Name() +
                ": reading /nonexistent/ca.crt: open: No such file or directory");
  client().UseTls({.authorities = PemText{"no certificate at all"}});
  EXPECT_THAT(MessageOf(Fetch(server.At("/hello"))),
              StartsWith("the CA certificates for " + server.Name() + " cannot be used: "));
}

class ClientCertificates : public HttpClientTest, public testing::WithParamInterface<std::string> {
 protected:
  Server server_{Server::Tls("server", {"--only-tls", GetParam(), "--clients", certificates_.Path("ca.crt")})};
};
INSTANTIATE_TEST_SUITE_P(TlsVersions, ClientCertificates, testing::Values("1_2", "1_3"),
                         [](const auto& version) { return "Tls" + version.param; });

TEST_P(ClientCertificates, AreSent) {
  tls_.client = certificates_.Client("client");
  EXPECT_EQ(BodyFrom(server_.At("/hello")), "hello");
}

TEST_P(ClientCertificates, MayComeFromMemory) {
  tls_.client = {.certificate = PemText{certificates_.Text("client.crt")},
                 .key = PemText{certificates_.Text("client.key")}};
  EXPECT_EQ(BodyFrom(server_.At("/hello")), "hello");
}

TEST_P(ClientCertificates, MayBeRequiredByTheServer) {
  const auto result = Fetch(server_.At("/hello"));
  EXPECT_THAT(MessageOf(result), StartsWith(server_.Name() + " requires a client certificate and we have none: "));
  EXPECT_EQ(KindOf(result), ErrorKind::kInvalid);
}

TEST_P(ClientCertificates, OfAnotherAuthorityAreRefused) {
  tls_.client = certificates_.Client("others/client");
  const auto result = Fetch(server_.At("/hello"));
  EXPECT_THAT(MessageOf(result), StartsWith(server_.Name() + " refused our client certificate: "));
  EXPECT_EQ(KindOf(result), ErrorKind::kInvalid);
}

TEST_P(ClientCertificates, ThatAreBrokenAreOurFault) {
  tls_.client = {.certificate = PemFile{certificates_.Path("client.crt")}, .key = PemText{"no key"}};
  const auto result = Fetch(server_.At("/hello"));
  EXPECT_THAT(MessageOf(result), StartsWith("our client certificate for " + server_.Name() + " cannot be used: "));
  EXPECT_EQ(KindOf(result), ErrorKind::kInvalid);
}

class Failures : public HttpClientTest, public testing::WithParamInterface<std::string> {
 protected:
  Server server_{GetParam() == "https" ? Server::Tls("server") : std::vector<std::string>()};
};
INSTANTIATE_TEST_SUITE_P(Schemes, Failures, testing::Values("http", "https"),
                         [](const auto& scheme) { return scheme.param; });

TEST_P(Failures, InMidBodyReportTheReceivedBytes) {
  const auto outcome = OutcomeAfterGoAhead(server_, "/reset");
  EXPECT_THAT(MessageOf(outcome),
              StartsWith("the connection to " + server_.Name() + " broke after 5 of 100 bytes of the body: "));
  EXPECT_EQ(KindOf(outcome), ErrorKind::kUnavailable);
}

TEST_P(Failures, ByAnEarlyCloseReportTheReceivedBytes) {
  const auto result = Fetch(server_.At("/truncated"));
  EXPECT_THAT(MessageOf(result),
              StartsWith("the connection to " + server_.Name() + " broke after 5 of 100 bytes of the body: "));
  EXPECT_EQ(KindOf(result), ErrorKind::kUnavailable);
}

TEST_P(Failures, OfASlowServerReportTheTimeLimit) {
  ExpectUnavailable(Fetch({.url = server_.At("/silent"), .timeouts = {.whole = milliseconds(200)}}),
                    server_.Name() + " did not complete its answer within 200 ms, before any answer");
}

TEST_P(Failures, OfAServerThatStopsSendingReportTheReceivedBytes) {
  ExpectUnavailable(Fetch({.url = server_.At("/stalled"), .timeouts = {.stall = milliseconds(500), .whole = {}}}),
                    server_.Name() + " sent nothing for 500 ms, after 5 of 100 bytes of the body");
}

TEST_P(Failures, ToAnswerInHttpAreReported) {
  EXPECT_THAT(MessageOf(Fetch(server_.At("/garbage"))), StartsWith(server_.Name() + " does not speak HTTP: "));
}

TEST_P(Failures, ToConnectReportTheReason) {
  const Unserved refusing(Unserved::Manner::kRefuses);
  ExpectUnavailable(Fetch(refusing.At(GetParam())), "cannot connect to " + refusing.Name() + ": Connection refused");
}

TEST_F(HttpClientTest, EndsAHandshakeThatTakesTooLong) {
  const Unserved silent(Unserved::Manner::kAcceptsAndIsSilent);
  ExpectUnavailable(Fetch({.url = silent.At("https"), .timeouts = {.connect = milliseconds(200)}}),
                    "connecting to " + silent.Name() + " took longer than the limit of 200 ms: SSL connection timeout");
}

TEST_F(HttpClientTest, ReportsAnUnknownHost) {
  const auto result = Fetch(ValueOf(Url::Parse("https://pintle.invalid/")));
  EXPECT_EQ(MessageOf(result), "cannot find the address of pintle.invalid:443: Could not resolve host: pintle.invalid");
  EXPECT_EQ(KindOf(result), ErrorKind::kUnavailable);
}

using Redirects = HttpClientTest;

TEST_F(Redirects, AreAnswersUnlessTheyAreToBeFollowed) {
  const Server server;
  const HttpResponse response = ValueOf(Fetch(server.At("/redirect//hello")));
  EXPECT_EQ(response.head.status, 302);
  EXPECT_EQ(response.head.Find("Location"), "/hello");
}

TEST_F(Redirects, AreFollowedOnTheSameConnection) {
  const Server server;
  const HttpResponse response =
      ValueOf(Fetch({.url = server.At("/redirect//redirect//connection"), .redirects_followed = 2}));
  EXPECT_EQ(response.head.status, 200);
  EXPECT_EQ(response.body, "1");
}

TEST_F(Redirects, AreLimitedInNumber) {
  const Server server;
  ExpectInvalid(Fetch({.url = server.At("/loop"), .redirects_followed = 3}),
                server.Name() + " redirects once more, after 3 redirects");
}

TEST_F(Redirects, HaveBodiesOfLimitedSizeToo) {
  const Server server;
  // The body of this redirect has 15 bytes, and that of the answer behind it has 5.
  EXPECT_EQ(BodyFrom({.url = server.At("/redirect//hello"), .body_limit = 15, .redirects_followed = 1}), "hello");
  EXPECT_THAT(MessageOf(Fetch({.url = server.At("/redirect//hello"), .body_limit = 14, .redirects_followed = 1})),
              HasSubstr("14 bytes"));
}

TEST_F(Redirects, SendTheTokenToTheSameServer) {
  const Server server;
  EXPECT_THAT(BodyFrom({.url = server.At("/redirect//echo"), .bearer_token = "sesame", .redirects_followed = 1}),
              HasSubstr("Authorization: Bearer sesame\r\n"));
}

TEST_F(Redirects, DoNotSendCredentialsToAnotherServer) {
  const Server first;
  const Server second;
  const std::string echo = BodyFrom({.url = first.At("/redirect/" + second.UrlText("/echo")),
                                     .headers = {{"Cookie", "c=1"}, {"authorization", "Basic Og=="}, {"X-Kept", "1"}},
                                     .bearer_token = "sesame",
                                     .redirects_followed = 1});
  EXPECT_THAT(echo, HasSubstr("X-Kept: 1\r\n"));
  EXPECT_THAT(echo, AllOf(Not(HasSubstr("Cookie")), Not(HasSubstr("uthorization"))));
}

TEST_F(Redirects, DoNotSendTheClientCertificateToAnotherServer) {
  const Server first(Server::Tls("server", {"--clients", certificates_.Path("ca.crt")}));
  const Server second(Server::Tls("server", {"--clients", certificates_.Path("ca.crt")}));
  tls_.client = certificates_.Client("client");
  EXPECT_THAT(MessageOf(Fetch({.url = first.At("/redirect/" + second.UrlText("/hello")), .redirects_followed = 1})),
              StartsWith(second.Name() + " requires a client certificate and we have none: "));
}

TEST_F(Redirects, LeadFromHttpToHttpsButNotBack) {
  const Server plain;
  const Server secure(Server::Tls("server"));
  EXPECT_EQ(BodyFrom({.url = plain.At("/redirect/" + secure.UrlText("/hello")), .redirects_followed = 1}), "hello");
  ExpectInvalid(
      Fetch({.url = secure.At("/redirect/" + plain.UrlText("/hello")), .redirects_followed = 1}),
      "the redirect by " + secure.Name() + ": it leads from https to http at " + plain.Name() + ", which is refused");
}

TEST_F(Redirects, LeadToHttpOnly) {
  const Server server;
  ExpectInvalid(Fetch({.url = server.At("/redirect/file:///etc/passwd"), .redirects_followed = 1}),
                "the redirect by " + server.Name() + ": not an http or https URL");
}

TEST_F(Redirects, AreNotFollowedForARequestThatChangesSomething) {
  const Server server;
  ExpectInvalid(Fetch({.method = "POST", .url = server.At("/loop"), .redirects_followed = 1}),
                "sending a request to " + server.Name() + ": redirects of a POST request cannot be followed");
}

TEST_F(Redirects, ShareTheTimeLimitOfTheWhole) {
  const Server server;
  ExpectUnavailable(
      Fetch({.url = server.At("/redirect//silent"), .timeouts = {.whole = milliseconds(300)}, .redirects_followed = 1}),
      server.Name() + " did not complete its answer within 300 ms, before any answer");
}

TEST_F(HttpClientTest, RefusesLocalAddressesIfOnlyRemoteAddressesAreAllowed) {
  const Server server;
  client_ = ValueOf(HttpClient::Create(*loop_, {.tls = tls_, .proxy = proxy_, .peers = Peers::kRemote}));
  ExpectInvalid(Fetch(server.At("/hello")),
                "refused to connect to " + server.Name() + ", since its address is a loopback or link-local one");
  const std::string port = server.Name().substr(server.Name().find(':'));
  ExpectInvalid(Fetch(ValueOf(Url::Parse(server.UrlText("/hello", "localhost")))),
                "refused to connect to localhost" + port + ", since its address is a loopback or link-local one");
}

using Proxies = HttpClientTest;

TEST_F(Proxies, AreUsedForPlainHttp) {
  const Server proxy({"--proxy"});
  proxy_.for_http = "http://user:secret@" + proxy.Name();
  const std::string body = BodyFrom(ValueOf(Url::Parse("http://somewhere.invalid/path")));
  EXPECT_THAT(body, StartsWith("the proxy was asked for http://somewhere.invalid/path\n"));
  EXPECT_THAT(body, HasSubstr("Proxy-Authorization: Basic "));
}

TEST_F(Proxies, AreATunnelForHttps) {
  const Server server(Server::Tls("server"));
  const Server proxy({"--proxy"});
  proxy_.for_https = "http://" + proxy.Name();
  const HttpResponse response = ValueOf(Fetch(server.At("/hello")));
  EXPECT_EQ(response.body, "hello");
  EXPECT_EQ(response.head.Find("X-From"), std::nullopt);
}

TEST_F(Proxies, AreNotUsedForExceptedHosts) {
  const Server server;
  proxy_ = {.for_http = "http://127.0.0.1:1", .except = "example.com,127.0.0.1"};
  EXPECT_EQ(BodyFrom(server.At("/hello")), "hello");
}

TEST_F(Proxies, OfTheEnvironmentAreNotUsedUnlessTheyAreInTheSettings) {
  const Server server;
  ::setenv("http_proxy", "http://127.0.0.1:1", 1);
  const auto result = Fetch(server.At("/hello"));
  ::unsetenv("http_proxy");
  EXPECT_TRUE(Succeeded(result));
}

TEST_F(Proxies, ThatRefuseATunnelAreNamedWithoutTheirPassword) {
  const Server server(Server::Tls("server"));
  const auto refused = [&](const std::string& status, const std::string& why) {
    const Server proxy({"--proxy", "--refusal", status});
    client_ = ValueOf(
        HttpClient::Create(*loop_, {.tls = tls_, .proxy = {.for_https = "http://user:secret@" + proxy.Name()}}));
    const auto result = Fetch(server.At("/hello"));
    EXPECT_EQ(MessageOf(result), "the proxy " + proxy.Name() + " refused a connection to " + server.Name() +
                                     " with status " + status + why);
    return KindOf(result);
  };
  EXPECT_EQ(refused("403", ""), ErrorKind::kInvalid);
  EXPECT_EQ(refused("407", ": it requires other credentials"), ErrorKind::kInvalid);
  EXPECT_EQ(refused("503", ""), ErrorKind::kUnavailable);
}

TEST_F(Proxies, ThatWantCredentialsForPlainHttpAreNamed) {
  const Server proxy({"--proxy", "--refusal", "407"});
  proxy_.for_http = "http://user:secret@" + proxy.Name();
  ExpectInvalid(Fetch(ValueOf(Url::Parse("http://somewhere.invalid/"))),
                "the proxy " + proxy.Name() +
                    " refused a request to somewhere.invalid:80 with status 407: it requires other credentials");
}

// A server that is itself a proxy, or that sends whatever it likes, must not make the proxy suspect.
TEST_F(Proxies, AreNotBlamedForAServersStatus407) {
  const Server plain;
  proxy_ = {.for_http = "http://127.0.0.1:1", .except = "127.0.0.1"};
  EXPECT_EQ(ValueOf(Fetch(plain.At("/status/407"))).head.status, 407);
  const Server server(Server::Tls("server"));
  const Server tunnel({"--proxy"});
  client_ = ValueOf(HttpClient::Create(*loop_, {.tls = tls_, .proxy = {.for_https = "http://" + tunnel.Name()}}));
  EXPECT_EQ(ValueOf(Fetch(server.At("/status/407"))).head.status, 407);
}

TEST_F(Proxies, ThatCannotBeReachedAreNamed) {
  const Unserved refusing(Unserved::Manner::kRefuses);
  proxy_.for_https = "http://user:secret@" + refusing.Name();
  ExpectUnavailable(
      Fetch(ValueOf(Url::Parse("https://somewhere.invalid/"))),
      "cannot connect to somewhere.invalid:443 through the proxy " + refusing.Name() + ": Connection refused");
}

class Calls : public HttpClientTest {
 protected:
  HttpReceiver IgnoringReceiver() {
    return {.head = [](const HttpHead&) {}, .body = [](std::string_view) {}, .end = [](Result<>) {}};
  }
  // Checks, after a request was cancelled, that later requests on the same loop work.
  void ExpectThatRequestsWork() { EXPECT_EQ(BodyFrom(server_.At("/hello")), "hello"); }
  void FailIfCalled(HttpReceiver& receiver) {
    receiver.end = [](Result<>) { FAIL() << "the call is gone"; };
  }

  Server server_{Server::Tls("server")};
};

TEST_F(Calls, NeverAnswerInsideStart) {
  bool started = false;
  const HttpCall call = client().Fetch({.url = server_.At("/hello"), .bearer_token = "\n"}, [&](Result<HttpResponse>) {
    EXPECT_TRUE(started);
    loop_->Stop();
  });
  started = true;
  EXPECT_TRUE(Succeeded(event::RunPatiently(*loop_)));
}

TEST_F(Calls, MayBeCancelledBeforeTheyBegin) {
  {
    const HttpCall call = client().Fetch({.url = server_.At("/hello")}, [](auto) { FAIL() << "the call is gone"; });
  }
  ExpectThatRequestsWork();
}

TEST_F(Calls, MayBeCancelledInTheCallbackForTheHead) {
  HttpCall call;
  HttpReceiver receiver = IgnoringReceiver();
  FailIfCalled(receiver);
  receiver.head = [&, held = std::make_shared<int>(7)](const HttpHead&) {
    call = HttpCall();
    EXPECT_EQ(*held, 7);
    loop_->Stop();
  };
  receiver.body = [](std::string_view) { FAIL() << "the call is gone"; };
  call = client().Start({.url = server_.At("/hello")}, receiver);
  EXPECT_TRUE(Succeeded(event::RunPatiently(*loop_)));
  ExpectThatRequestsWork();
}

TEST_F(Calls, MayBeCancelledInTheCallbackForTheBody) {
  HttpCall call;
  HttpReceiver receiver = IgnoringReceiver();
  FailIfCalled(receiver);
  receiver.body = [&, held = std::make_shared<int>(7)](std::string_view) {
    call = HttpCall();
    EXPECT_EQ(*held, 7);
    loop_->Stop();
  };
  call = client().Start({.url = server_.At("/stream")}, receiver);
  EXPECT_TRUE(Succeeded(event::RunPatiently(*loop_)));
  ExpectThatRequestsWork();
}

TEST_F(Calls, MayBeCancelledInTheCallbackOfAnother) {
  HttpReceiver gone = IgnoringReceiver();
  FailIfCalled(gone);
  HttpCall other = client().Start({.url = server_.At("/silent")}, gone);
  HttpReceiver receiver = IgnoringReceiver();
  receiver.body = [&](std::string_view) { other = HttpCall(); };
  receiver.end = [&](Result<>) { loop_->Stop(); };
  const HttpCall call = client().Start({.url = server_.At("/hello")}, receiver);
  EXPECT_TRUE(Succeeded(event::RunPatiently(*loop_)));
  ExpectThatRequestsWork();
}

TEST_F(Calls, MayBeginOthersInTheirCallbacks) {
  HttpCall call;
  int answers = 0;
  std::function<void(Result<HttpResponse>)> again = [&](Result<HttpResponse> response) {
    EXPECT_EQ(ValueOf(std::move(response)).body, "hello");
    if (++answers == 3) return loop_->Stop();
    call = client().Fetch({.url = server_.At("/hello")}, again);
  };
  call = client().Fetch({.url = server_.At("/hello")}, again);
  EXPECT_TRUE(Succeeded(event::RunPatiently(*loop_)));
}

TEST_F(Calls, AreDroppedWithTheClientEvenInTheCallbackForTheBody) {
  HttpReceiver receiver = IgnoringReceiver();
  FailIfCalled(receiver);
  receiver.body = [&](std::string_view) {
    client_.reset();
    loop_->Stop();
  };
  const HttpCall call = client().Start({.url = server_.At("/stream")}, receiver);
  const HttpCall other = client().Fetch({.url = server_.At("/silent")}, [](auto) { FAIL() << "the client is gone"; });
  EXPECT_TRUE(Succeeded(event::RunPatiently(*loop_)));
  ExpectThatRequestsWork();
}

TEST_F(Calls, AreDroppedWithTheClientEvenInTheCallbackForTheEnd) {
  const HttpCall call = client().Fetch({.url = server_.At("/hello")}, [&](auto) {
    client_.reset();
    loop_->Stop();
  });
  EXPECT_TRUE(Succeeded(event::RunPatiently(*loop_)));
  ExpectThatRequestsWork();
}

TEST_F(Calls, ReleaseTheReceiverWhenTheyEnd) {
  const auto held = std::make_shared<int>();
  const HttpCall call = client().Fetch({.url = server_.At("/hello")}, [this, held](auto) { loop_->Stop(); });
  EXPECT_TRUE(Succeeded(event::RunPatiently(*loop_)));
  EXPECT_EQ(held.use_count(), 1);
}

TEST_F(Calls, GetNoMoreOfTheBodyWhileTheyArePaused) {
  HttpCall call;
  std::size_t received = 0;
  bool resumed = false;
  HttpReceiver receiver = IgnoringReceiver();
  receiver.body = [&](std::string_view piece) {
    EXPECT_TRUE(received == 0 || resumed);
    received += piece.size();
    if (!resumed) {
      call.Pause();
      loop_->Stop();
    }
  };
  receiver.end = [&](Result<> outcome) {
    EXPECT_TRUE(Succeeded(outcome));
    loop_->Stop();
  };
  call = client().Start({.url = server_.At("/sized/1000000")}, receiver);
  ASSERT_TRUE(Succeeded(event::RunPatiently(*loop_)));
  ExpectThatRequestsWork();  // The rest would have arrived during this request.
  EXPECT_LT(received, 1000000U);
  resumed = true;
  call.Resume();
  ASSERT_TRUE(Succeeded(event::RunPatiently(*loop_)));
  EXPECT_EQ(received, 1000000U);
}

TEST_F(Calls, DoNotStallWhileTheyArePaused) {
  HttpCall call;
  HttpReceiver receiver = IgnoringReceiver();
  receiver.body = [&](std::string_view) { call.Pause(); };
  receiver.end = [&](Result<> outcome) { loop_->Stop(std::move(outcome)); };
  call =
      client().Start({.url = server_.At("/stalled"), .timeouts = {.stall = seconds(1), .whole = seconds(3)}}, receiver);
  EXPECT_EQ(MessageOf(event::RunPatiently(*loop_)),
            server_.Name() + " did not complete its answer within 3 s, after 5 of 100 bytes of the body");
}

class Http2 : public HttpClientTest {
 protected:
  Http2() { folder_.Write("hello", "hello"); }

  void ExpectUnavailableWhen(const std::string& manner, const std::string& how_far) {
    const Server server(Server::Tls("server", {"--bad-http2", manner}));
    const auto outcome = OutcomeAfterGoAhead(server, "/");
    EXPECT_THAT(MessageOf(outcome), StartsWith("the connection to " + server.Name() + " broke " + how_far + ": "));
    EXPECT_EQ(KindOf(outcome), ErrorKind::kUnavailable);
  }

  TemporaryDirectory folder_;
};

TEST_F(Http2, IsUsedIfItIsOffered) {
  const Server server(Server::Tls("server", {"--http2", folder_.path()}));
  const HttpResponse response = ValueOf(Fetch(server.At("/hello")));
  EXPECT_EQ(response.head.version, HttpVersion::kHttp2);
  EXPECT_EQ(response.head.status, 200);
  EXPECT_EQ(response.body, "hello");
}

TEST_F(Http2, SharesOneConnectionAmongManyRequestsAtOnce) {
  Server server(Server::Tls("server", {"--http2", folder_.path()}));
  std::vector<HttpCall> calls;
  int left = 50;
  for (int i = 0; i < 50; ++i) {
    calls.push_back(client().Fetch({.url = server.At("/hello")}, [&](Result<HttpResponse> response) {
      EXPECT_EQ(ValueOf(std::move(response)).body, "hello");
      if (--left == 0) loop_->Stop();
    }));
  }
  EXPECT_TRUE(Succeeded(event::RunPatiently(*loop_)));
  EXPECT_EQ(server.CountConnections(), "1");
}

TEST_F(Http2, ReplacesASilentConnection) {
  // A load balancer that has lost its server still acknowledges data.
  for (const auto limit : {&HttpTimeouts::stall, &HttpTimeouts::whole}) {
    Server server(Server::Tls("server", {"--http2", folder_.path(), "--freezes"}));
    EXPECT_EQ(BodyFrom(server.At("/hello")), "hello");
    EXPECT_EQ(server.CountConnections(), "1");
    const HttpCall other = client().Fetch({.url = server.At("/hello")}, [](const Result<HttpResponse>&) {});
    HttpRequest request = {.url = server.At("/hello")};
    request.timeouts.*limit = milliseconds(100);
    auto answer = Fetch(request);
    EXPECT_THAT(MessageOf(answer), EndsWith("before any answer"));
    // A busy machine may need longer for a new connection.
    for (milliseconds patience(200); !answer && patience < seconds(10); patience *= 2) {
      request.timeouts.*limit = patience;
      answer = Fetch(request);
    }
    EXPECT_EQ(ValueOf(std::move(answer)).body, "hello");
  }
}

TEST_F(Http2, KeepsAConnectionOnWhichOnlyOneRequestIsSilent) {
  Server server(Server::Tls("server", {"--bad-http2", "silent-about-the-first"}));
  std::string failure;
  const HttpCall silent = client().Fetch({.url = server.At("/"), .timeouts = {.stall = seconds(2)}},
                                         [&](const Result<HttpResponse>& answer) { failure = MessageOf(answer); });
  // The other requests are answered all the time.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (failure.empty() && std::chrono::steady_clock::now() < deadline) EXPECT_EQ(BodyFrom(server.At("/")), "1");
  EXPECT_THAT(failure, EndsWith("before any answer"));
  EXPECT_EQ(BodyFrom(server.At("/")), "1");
}

TEST_F(Http2, IsUnavailableIfTheServerBreaksItOff) {
  ExpectUnavailableWhen("reset", "before any answer");
  ExpectUnavailableWhen("goaway", "before any answer");
  ExpectUnavailableWhen("reset-in-mid-body", "after 5 bytes of the body");
  ExpectUnavailableWhen("goaway-in-mid-body", "after 5 bytes of the body");
}

}  // namespace
}  // namespace pintle::net
