// SPDX-License-Identifier: Apache-2.0
#include "net/http_exchange.h"

#include <fmt/core.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <utility>

#include "base/version.h"
#include "net/local_address.h"

namespace pintle::net {
namespace {

using std::chrono::milliseconds;

// The kernel probes a silent connection and gives up on data that is not acknowledged, so that we notice a peer that
// has vanished.  Otherwise later requests would use the same dead connection.
constexpr long kProbeAfterSeconds = 30;
constexpr long kProbeEverySeconds = 10;
constexpr unsigned kUnacknowledgedMilliseconds = 60'000;

void Append(Lines& lines, const std::string& line) {
  curl_slist* const longer = Curl().slist_append(lines.get(), line.c_str());
  if (longer == nullptr) std::abort();
  static_cast<void>(lines.release());  // The line is part of the longer list now.
  lines.reset(longer);
}

// curl removes the header if a line has a colon and no value; a semicolon makes curl send the header without a value.
std::string AsLine(const Header& header) {
  return header.value.empty() ? header.name + ";" : header.name + ": " + header.value;
}

int DropDeadConnections(void*, curl_socket_t socket, curlsocktype) {
  // This fails for a socket that is not TCP, which does no harm.
  static_cast<void>(::setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &kUnacknowledgedMilliseconds,
                                 sizeof(kUnacknowledgedMilliseconds)));
  return CURL_SOCKOPT_OK;
}

void AllowOnlyHttp(CURL* easy) {
#if LIBCURL_VERSION_NUM >= 0x075500
  Set(easy, CURLOPT_PROTOCOLS_STR, "http,https");
#else
  Set(easy, CURLOPT_PROTOCOLS, static_cast<long>(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
}

// Without this option, curl would block the loop until the DNS lookup of a cancelled request has ended.
void LeaveLookupsBehind([[maybe_unused]] CURL* easy) {
#if LIBCURL_VERSION_NUM >= 0x075700
  Set(easy, CURLOPT_QUICK_EXIT, 1L);
#endif
}

std::optional<std::uint64_t> ContentLength(const HttpHead& head) {
  const auto text = head.Find("Content-Length");
  std::uint64_t length = 0;
  if (!text || std::from_chars(text->data(), text->data() + text->size(), length).ec != std::errc()) {
    return std::nullopt;
  }
  return length;
}

bool IsRedirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

Result<Url> NextHop(const Url& from, std::string_view location) {
  const auto refused = [&] { return "the redirect by " + from.HostAndPort(); };
  Url next = TRY(from.Resolve(location), refused());
  if (from.is_https() && !next.is_https()) {
    return Error(ErrorKind::kInvalid,
                 fmt::format("it leads from https to http at {}, which is refused", next.HostAndPort()))
        .While(refused());
  }
  return next;
}

}  // namespace

HttpCall::Exchange::Exchange(const std::shared_ptr<Engine>& engine, HttpRequest request, HttpReceiver receiver)
    : engine_(engine), request_(std::move(request)), receiver_(std::move(receiver)), url_(request_.url) {}

void HttpCall::Exchange::Begin() {
  const auto engine = engine_.lock();
  if (over_ || !engine) return;
  if (request_.timeouts.whole) {
    whole_.emplace(engine->loop(), [this] { EndLate(); });
    whole_->After(*request_.timeouts.whole);
  }
  if (request_.timeouts.stall) {
    stall_.emplace(engine->loop(), [this] { CheckStall(); });
    if (!paused_) stall_->After(*request_.timeouts.stall);
  }
  NoteActivity();
  if (Result<> checked = Check(request_); !checked) {
    return End(std::move(checked).error().While("sending a request to " + url_.HostAndPort()));
  }
  if (Result<> sent = Send(); !sent) End(std::move(sent));
}

// Sends the request to the current server: the first one, or the target of a redirect.
Result<> HttpCall::Exchange::Send() {
  const auto engine = engine_.lock();
  easy_.reset(Curl().easy_init());
  if (!easy_) return Error(ErrorKind::kSystem, "curl_easy_init failed");
  SetUp();
  TRY(engine->SetTls(easy(), url_, AtFirstServer()));
  return engine->AddToCurl(*this);
}

void HttpCall::Exchange::SetUp() {
  Set(easy(), CURLOPT_PRIVATE, this);
  Set(easy(), CURLOPT_NOSIGNAL, 1L);
  Set(easy(), CURLOPT_ERRORBUFFER, curl_message_.data());
  Set(easy(), CURLOPT_URL, url_.text().c_str());
  AllowOnlyHttp(easy());
  Set(easy(), CURLOPT_USERAGENT, fmt::format("pintle/{}", kVersion).c_str());
  Set(easy(), CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2TLS));
  // With https, curl waits until it knows whether a connection that is being made can be shared.  Without TLS, no
  // connection can be shared.  But curl would find that out only at the end of the first exchange on the connection,
  // and a watch does not end.
  Set(easy(), CURLOPT_PIPEWAIT, url_.is_https() ? 1L : 0L);
  Set(easy(), CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(request_.timeouts.connect.count()));
  Set(easy(), CURLOPT_TCP_KEEPALIVE, 1L);
  Set(easy(), CURLOPT_TCP_KEEPIDLE, kProbeAfterSeconds);
  Set(easy(), CURLOPT_TCP_KEEPINTVL, kProbeEverySeconds);
  Set(easy(), CURLOPT_SOCKOPTFUNCTION, &DropDeadConnections);
  if (engine_.lock()->settings().peers == Peers::kRemote) {
    Set(easy(), CURLOPT_OPENSOCKETFUNCTION, &Exchange::OpenRemoteSocket);
    Set(easy(), CURLOPT_OPENSOCKETDATA, this);
  }
  LeaveLookupsBehind(easy());
  // If these options were not set, curl would read the environment itself; empty texts mean no proxy.
  Set(easy(), CURLOPT_PROXY, Proxy().c_str());
  Set(easy(), CURLOPT_NOPROXY, engine_.lock()->settings().proxy.except.c_str());
  Set(easy(), CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  // Requests with https go through a tunnel, so each answer to them is the server's.
  if (!url_.is_https() && !Proxy().empty()) NoteWhatIsSent();
  if (request_.compression == Compression::kAccepted) Set(easy(), CURLOPT_ACCEPT_ENCODING, "gzip, deflate");
  Set(easy(), CURLOPT_HEADERFUNCTION, static_cast<curl_write_callback>(&Exchange::TakeHeadLine));
  Set(easy(), CURLOPT_HEADERDATA, this);
  Set(easy(), CURLOPT_WRITEFUNCTION, static_cast<curl_write_callback>(&Exchange::TakePiece));
  Set(easy(), CURLOPT_WRITEDATA, this);
  SetUpBody();
  header_lines_ = HeaderLines();
  Set(easy(), CURLOPT_HTTPHEADER, header_lines_.get());
}

// Before version 8.7, curl does not report whether it has used the proxy, and only curl decides for which hosts it does
// not use the proxy.
void HttpCall::Exchange::NoteWhatIsSent() {
  Set(easy(), CURLOPT_DEBUGFUNCTION, &Exchange::NoteSent);
  Set(easy(), CURLOPT_DEBUGDATA, this);
  Set(easy(), CURLOPT_VERBOSE, 1L);  // Without this, curl does not call the function.
}

void HttpCall::Exchange::SetUpBody() {
  const std::string& method = request_.method;
  if (method == "HEAD") return Set(easy(), CURLOPT_NOBODY, 1L);
  if (!request_.body.empty() || method == "POST" || method == "PUT" || method == "PATCH") {
    Set(easy(), CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request_.body.size()));
    Set(easy(), CURLOPT_POSTFIELDS, request_.body.c_str());  // curl does not copy the body, which stays in the request.
  }
  Set(easy(), CURLOPT_CUSTOMREQUEST, method.c_str());
}

Lines HttpCall::Exchange::HeaderLines() const {
  Lines lines;
  // These lines suppress headers that curl adds to requests with a body.
  Append(lines, "Expect:");
  if (std::none_of(request_.headers.begin(), request_.headers.end(),
                   [](const Header& header) { return IsNamed(header, "Content-Type"); })) {
    Append(lines, "Content-Type:");
  }
  for (const Header& header : request_.headers) {
    if (AtFirstServer() || !IsCredential(header)) Append(lines, AsLine(header));
  }
  if (!request_.bearer_token.empty() && AtFirstServer()) {
    Append(lines, "Authorization: Bearer " + request_.bearer_token);
  }
  return lines;
}

// The address is known only here, since a name may have another address at each lookup.
curl_socket_t HttpCall::Exchange::OpenRemoteSocket(void* exchange, curlsocktype, curl_sockaddr* address) {
  if (IsLocal(address->addr)) {
    static_cast<Exchange*>(exchange)->has_refused_address_ = true;
    return CURL_SOCKET_BAD;
  }
  return ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

// A request to a proxy has the whole URL in its first line, and one to a server has the path only.
int HttpCall::Exchange::NoteSent(CURL*, curl_infotype type, char* text, std::size_t size, void* exchange) {
  auto& is_sent_to_proxy = static_cast<Exchange*>(exchange)->is_sent_to_proxy_;
  if (type != CURLINFO_HEADER_OUT || is_sent_to_proxy) return 0;
  const std::string_view sent(text, size);
  const std::size_t space = sent.find(' ');
  is_sent_to_proxy = space != std::string_view::npos && sent.substr(space + 1).starts_with("http://");
  return 0;
}

std::size_t HttpCall::Exchange::TakeHeadLine(char* line, std::size_t, std::size_t size, void* exchange) {
  auto& self = *static_cast<Exchange*>(exchange);
  return self.CallbackResult(self.TakeHeadLine(std::string_view(line, size)), size);
}

std::size_t HttpCall::Exchange::TakePiece(char* piece, std::size_t, std::size_t size, void* exchange) {
  auto& self = *static_cast<Exchange*>(exchange);
  if (self.paused_ && !self.over_) {
    self.paused_in_curl_ = true;
    return CURL_WRITEFUNC_PAUSE;  // curl keeps the piece and offers it again.
  }
  return self.CallbackResult(self.TakePiece(std::string_view(piece, size)), size);
}

// Returns the result of a curl callback: any number but the size makes curl abort the transfer.
std::size_t HttpCall::Exchange::CallbackResult(const Result<>& taken, std::size_t size) {
  if (!taken) failure_ = taken.error();
  return taken && !over_ ? size : size + 1;
}

Result<> HttpCall::Exchange::TakeHeadLine(std::string_view line) {
  NoteActivity();
  // Trailers come through the same callback and are ignored.
  if (over_ || next_ || answered_) return {};
  if (TRY(head_.AddLine(line)) == HeadReader::State::kMore) return {};
  return TakeHead(head_.head());
}

Result<> HttpCall::Exchange::TakeHead(const HttpHead& head) {
  if (head.status == 407 && is_sent_to_proxy_.value_or(false)) {
    return ProxyWantsCredentials(NameOfProxy(Proxy()).Text(), url_.HostAndPort());
  }
  const auto location = head.Find("Location");
  if (request_.redirects_followed > 0 && IsRedirect(head.status) && location) {
    if (redirects_ == request_.redirects_followed) {
      return Error(ErrorKind::kInvalid,
                   fmt::format("{} redirects once more, after {} redirects", url_.HostAndPort(), redirects_));
    }
    next_ = TRY(NextHop(url_, *location));
    return {};
  }
  answered_ = true;
  if (request_.method != "HEAD") body_expected_ = ContentLength(head);
  if (body_expected_ > request_.body_limit) return BodyOverLimit(request_.body_limit, url_.HostAndPort());
  receiver_.head(head);
  return {};
}

Result<> HttpCall::Exchange::TakePiece(std::string_view piece) {
  NoteActivity();
  if (over_) return {};
  body_size_ += piece.size();
  if (body_size_ > request_.body_limit) return BodyOverLimit(request_.body_limit, url_.HostAndPort());
  if (!next_) receiver_.body(piece);  // The body of a redirect is read and dropped.
  return {};
}

void HttpCall::Exchange::Done(CURLcode code) {
  if (over_) return;
  if (failure_) return End(*failure_);
  // curl does not report an error if the connection ends within the head.
  if (code == CURLE_OK && !answered_ && !next_) code = CURLE_GOT_NOTHING;
  if (code == CURLE_COULDNT_CONNECT && has_refused_address_) return End(RefusedAsLocal(url_.HostAndPort()));
  if (code != CURLE_OK) return End(Explain(Failure(code)));
  if (!next_) return End({});
  if (Result<> followed = Follow(); !followed) End(std::move(followed));
}

Result<> HttpCall::Exchange::Follow() {
  engine_.lock()->RemoveFromCurl(*this);
  url_ = *std::exchange(next_, std::nullopt);
  ++redirects_;
  is_sent_to_proxy_.reset();
  head_ = HeadReader();
  body_size_ = 0;
  return Send();
}

void HttpCall::Exchange::End(Result<> outcome) {
  const auto alive = shared_from_this();
  Cancel();
  // Moves the receiver out, so that the objects it holds are freed after this call even if the caller keeps its handle.
  const HttpReceiver receiver = std::exchange(receiver_, {});
  receiver.end(std::move(outcome));
}

void HttpCall::Exchange::Cancel() {
  if (over_) return;
  over_ = true;
  stall_.reset();
  whole_.reset();
  if (const auto engine = engine_.lock()) engine->Forget(*this);
}

void HttpCall::Exchange::FailSoon(Error error) {
  if (const auto engine = engine_.lock()) {
    engine->loop().Post([weak = weak_from_this(), error = std::move(error)] {
      const auto alive = weak.lock();
      if (alive && !alive->over_) alive->End(error);
    });
  }
}

void HttpCall::Exchange::Pause() {
  paused_ = true;
  if (stall_) stall_->Cancel();
}

void HttpCall::Exchange::Resume() {
  const auto engine = engine_.lock();
  if (over_ || !paused_ || !engine) return;
  paused_ = false;
  NoteActivity();
  if (stall_) stall_->After(*request_.timeouts.stall);
  engine->loop().Post([weak = weak_from_this()] {
    if (const auto alive = weak.lock()) alive->Unpause();
  });
}

void HttpCall::Exchange::Unpause() {
  const auto engine = engine_.lock();
  if (over_ || paused_ || !paused_in_curl_ || !engine) return;
  paused_in_curl_ = false;
  engine->Unpause(*this);
}

void HttpCall::Exchange::NoteActivity() { last_activity_ = std::chrono::steady_clock::now(); }

// The timer is not set again for each piece.  When the timer fires, this function checks when the last piece came, and
// waits for the rest of the time.
void HttpCall::Exchange::CheckStall() {
  const milliseconds patience = *request_.timeouts.stall;
  if (std::chrono::steady_clock::now() < last_activity_ + patience) return stall_->At(last_activity_ + patience);
  GiveUp(patience, StalledFor(patience, url_.HostAndPort(), Progress()));
}

void HttpCall::Exchange::EndLate() {
  const milliseconds patience = *request_.timeouts.whole;
  GiveUp(patience, NotDoneWithin(patience, url_.HostAndPort(), Progress()));
}

// Half of the time may have passed before the request had a connection, so only the second half counts as silence.
void HttpCall::Exchange::GiveUp(milliseconds patience, Error error) {
  const auto engine = engine_.lock();
  if (engine && !paused_) engine->GiveUpConnection(*this, std::chrono::steady_clock::now() - patience / 2);
  End(std::move(error));
}

AnswerProgress HttpCall::Exchange::Progress() const {
  return {.answered = answered_,
          .body_received = static_cast<std::uint64_t>(Get<curl_off_t>(easy_.get(), CURLINFO_SIZE_DOWNLOAD_T)),
          .body_expected = body_expected_};
}

TransferFailure HttpCall::Exchange::Failure(CURLcode code) const {
  const auto engine = engine_.lock();
  TransferFailure failure = {.curl_code = code,
                             .detail = curl_message_.data(),
                             .verify_result = Get<long>(easy_.get(), CURLINFO_SSL_VERIFYRESULT),
                             .errno_value = static_cast<int>(Get<long>(easy_.get(), CURLINFO_OS_ERRNO)),
                             .tunnel_status = Get<long>(easy_.get(), CURLINFO_HTTP_CONNECTCODE),
                             .has_client_certificate = engine->settings().tls.client && AtFirstServer(),
                             .progress = Progress(),
                             .server = url_.HostAndPort(),
                             .connect_timeout = request_.timeouts.connect};
  failure.proxy = ProxyInvolved(failure);
  return failure;
}

// curl does not report whether the proxy failed, but if it did, curl's message names the proxy.
std::string HttpCall::Exchange::ProxyInvolved(const TransferFailure& failure) const {
  if (Proxy().empty()) return "";
  const ProxyName proxy = NameOfProxy(Proxy());
  const bool named = failure.tunnel_status != 0 || failure.curl_code == CURLE_COULDNT_RESOLVE_PROXY ||
                     failure.detail.find(fmt::format("{} port {}", proxy.host, proxy.port)) != std::string::npos;
  return named ? proxy.Text() : "";
}

}  // namespace pintle::net
