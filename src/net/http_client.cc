// SPDX-License-Identifier: Apache-2.0
#include "net/http_client.h"

#include <curl/curl.h>
#include <fmt/core.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <map>
#include <set>

#include "base/c_ptr.h"
#include "base/clock.h"
#include "base/unique_fd.h"
#include "base/version.h"
#include "event/loop.h"
#include "event/watches.h"
#include "net/http_failure.h"

namespace pintle::net {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

using Multi = CPtr<CURLM, ::curl_multi_cleanup>;
using Easy = CPtr<CURL, ::curl_easy_cleanup>;
using Lines = CPtr<curl_slist, ::curl_slist_free_all>;

// A peer that vanished without a word is noticed by the kernel, which probes a silent connection and gives up on what
// is not acknowledged.  Otherwise later requests would go to the same dead connection.
constexpr long kProbeAfterSeconds = 30;
constexpr long kProbeEverySeconds = 10;
constexpr unsigned kUnacknowledgedMilliseconds = 60'000;

// Setting an option fails only without memory or when this curl does not know it.
template <typename Value>
void Set(CURL* easy, CURLoption option, Value value) {
  if (::curl_easy_setopt(easy, option, value) != CURLE_OK) std::abort();
}

template <typename Value>
void Set(CURLM* multi, CURLMoption option, Value value) {
  if (::curl_multi_setopt(multi, option, value) != CURLM_OK) std::abort();
}

template <typename Value>
Value Get(CURL* easy, CURLINFO info) {
  Value value = {};
  ::curl_easy_getinfo(easy, info, &value);
  return value;
}

// curl keeps a copy.
void SetBlob(CURL* easy, CURLoption option, std::string& bytes) {
  curl_blob blob = {.data = bytes.data(), .len = bytes.size(), .flags = CURL_BLOB_COPY};
  Set(easy, option, &blob);
}

// Writing to a peer that is gone would end the program: OpenSSL knows no other way to write.  curl guards against that
// in some of its calls, by changing the action for all threads; this covers them all, for this thread.
class SigpipeHeldBack {
 public:
  SigpipeHeldBack() {
    ::sigemptyset(&sigpipe_);
    ::sigaddset(&sigpipe_, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &sigpipe_, &before_);
  }
  ~SigpipeHeldBack() {
    const timespec at_once = {};
    if (::sigismember(&before_, SIGPIPE) == 0) ::sigtimedwait(&sigpipe_, nullptr, &at_once);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  SigpipeHeldBack(const SigpipeHeldBack&) = delete;
  SigpipeHeldBack& operator=(const SigpipeHeldBack&) = delete;

 private:
  sigset_t sigpipe_;
  sigset_t before_;
};

// Has curl trust these CA certificates and no others.
class Authorities {
 public:
  Result<> Trust(CURL* easy, std::string pem) {
    // Without this, the system's would be trusted too.
    Set(easy, CURLOPT_CAINFO, static_cast<const char*>(nullptr));
    Set(easy, CURLOPT_CAPATH, static_cast<const char*>(nullptr));
    return Add(easy, pem);
  }

 private:
#if LIBCURL_VERSION_NUM >= 0x074d00
  // Not as a file: of those curl keeps a copy for a day, whatever becomes of them.
  Result<> Add(CURL* easy, std::string& pem) {
    SetBlob(easy, CURLOPT_CAINFO_BLOB, pem);
    return {};
  }
#else
  // This curl (RHEL 9) takes nothing but a file, and lets requests share a connection that name the same one.
  Result<> Add(CURL* easy, std::string& pem) {
    if (!file_ || pem != in_file_) {
      UniqueFd file(::memfd_create("authorities", MFD_CLOEXEC));
      if (!file) return Error::FromErrno("memfd_create");
      const ssize_t written = ::write(file.get(), pem.data(), pem.size());
      if (written != static_cast<ssize_t>(pem.size())) return Error::FromErrno("write");
      file_ = std::move(file);
      in_file_ = std::move(pem);
    }
    Set(easy, CURLOPT_CAINFO, fmt::format("/proc/self/fd/{}", file_.get()).c_str());
    return {};
  }

  UniqueFd file_;
  std::string in_file_;
#endif
};

void Append(Lines& lines, const std::string& line) {
  curl_slist* const longer = ::curl_slist_append(lines.get(), line.c_str());
  if (longer == nullptr) std::abort();
  static_cast<void>(lines.release());  // It is part of the longer list.
  lines.reset(longer);
}

// A line without a value would take the header out instead.
std::string AsLine(const Header& header) {
  return header.value.empty() ? header.name + ";" : header.name + ": " + header.value;
}

int DropDeadConnections(void*, curl_socket_t socket, curlsocktype) {
  // On a socket that is not TCP this has no effect, and none is needed.
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

// A name that is being looked up must not hold up the loop when nobody wants it any more.
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

// Runs curl on the loop, and owns the requests under way.
//
// curl may not be called from within what it calls.  So requests begin by way of Post(), and those that are dropped
// meanwhile leave when curl has returned.
class HttpCall::Engine : public std::enable_shared_from_this<Engine> {
 public:
  Engine(event::Loop& loop, HttpClient::Settings settings);
  ~Engine();

  Result<> Open();
  void Add(const std::shared_ptr<Exchange>& exchange);
  void CancelAll();

  // Has curl work on what the request has set up, or no longer.
  Result<> Enter(Exchange& exchange);
  void Remove(Exchange& exchange);
  // The request is over.
  void Leave(Exchange& exchange);

  void Unpause(Exchange& exchange);

  Result<> SetTls(CURL* easy, const Url& url, bool tell_who_we_are);

  event::Loop& loop() { return loop_; }
  HttpClient::Settings& settings() { return settings_; }

 private:
  static int WatchSocket(CURL* easy, curl_socket_t socket, int what, void* engine, void* watched);
  static int SetTimer(CURLM* multi, long timeout_ms, void* engine);

  void Watch(CURL* easy, curl_socket_t socket, event::FdReadiness wanted);
  void Act(curl_socket_t socket, int events);
  template <typename Call>
  void CallCurl(Call call);
  void Settle();

  event::Loop& loop_;
  HttpClient::Settings settings_;
  std::set<std::shared_ptr<Exchange>> exchanges_;
  std::vector<std::shared_ptr<Exchange>> leaving_;
  std::map<curl_socket_t, event::FdWatch> watches_;
  event::Timer timer_;
  bool in_curl_ = false;
  Authorities authorities_;
  Multi multi_;
};

// One request, from its start to its end.
class HttpCall::Exchange : public std::enable_shared_from_this<Exchange> {
 public:
  Exchange(const std::shared_ptr<Engine>& engine, HttpRequest request, HttpReceiver receiver);

  void Begin();
  void Cancel();
  void Pause();
  void Resume();
  // Ends it with an error as soon as curl is not at work.
  void FailSoon(Error error);
  // curl has come to the end of what it was asked.
  void Done(CURLcode code);
  void Unpause();

  CURL* easy() { return easy_.get(); }

 private:
  static std::size_t TakeHeadLine(char* line, std::size_t one, std::size_t size, void* exchange);
  static std::size_t TakePiece(char* piece, std::size_t one, std::size_t size, void* exchange);

  Result<> Send();
  Result<> Follow();
  void SetUp();
  void SetUpBody();
  Lines HeaderLines() const;
  bool AtFirstServer() const { return url_.SameOrigin(request_.url); }

  Result<> TakeHeadLine(std::string_view line);
  Result<> TakeHead(const HttpHead& head);
  Result<> TakePiece(std::string_view piece);
  std::size_t Taken(const Result<>& taken, std::size_t size);

  void CheckStall();
  void Heard();
  const std::string& Proxy() const { return engine_.lock()->settings().proxy.For(url_); }
  Progress HowFar() const;
  TransferFailure Failure(CURLcode code) const;
  std::string ProxyInvolved(const TransferFailure& failure) const;
  void End(Result<> outcome);

  std::weak_ptr<Engine> engine_;
  HttpRequest request_;
  HttpReceiver receiver_;
  bool over_ = false;  // Ended or cancelled: the receiver is not called any more.

  Url url_;  // Where redirects have led to.
  int redirects_ = 0;
  std::optional<Url> next_;
  HeadReader head_;
  bool answered_ = false;
  std::optional<std::uint64_t> body_expected_;
  std::uint64_t body_size_ = 0;  // Decompressed.
  std::optional<Error> failure_;

  bool paused_ = false;
  bool paused_in_curl_ = false;
  MonotonicTime last_heard_;
  std::optional<event::Timer> stall_;
  std::optional<event::Timer> whole_;

  Lines header_lines_;
  std::array<char, CURL_ERROR_SIZE> curl_words_ = {};
  Easy easy_;
};

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
  const SigpipeHeldBack held_back;
  multi_.reset();  // It takes leave of its connections, and so of the watches and the timer.
}

Result<> HttpCall::Engine::Open() {
  static const CURLcode initialised = ::curl_global_init(CURL_GLOBAL_DEFAULT);
  if (initialised != CURLE_OK) return Error(ErrorKind::kSystem, ::curl_easy_strerror(initialised));
  multi_.reset(::curl_multi_init());
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

Result<> HttpCall::Engine::Enter(Exchange& exchange) {
  const CURLMcode added = ::curl_multi_add_handle(multi_.get(), exchange.easy());
  if (added != CURLM_OK) return Error(ErrorKind::kSystem, ::curl_multi_strerror(added));
  return {};
}

void HttpCall::Engine::Remove(Exchange& exchange) {
  if (exchange.easy() == nullptr) return;
  const SigpipeHeldBack held_back;
  ::curl_multi_remove_handle(multi_.get(), exchange.easy());
}

void HttpCall::Engine::Leave(Exchange& exchange) {
  const auto alive = exchange.shared_from_this();
  exchanges_.erase(alive);
  if (in_curl_) return leaving_.push_back(alive);
  Remove(exchange);
}

void HttpCall::Engine::Unpause(Exchange& exchange) {
  // curl hands out what it had kept.
  CallCurl([&] { ::curl_easy_pause(exchange.easy(), CURLPAUSE_CONT); });
}

int HttpCall::Engine::WatchSocket(CURL* easy, curl_socket_t socket, int what, void* engine, void*) {
  auto& self = *static_cast<Engine*>(engine);
  if (what == CURL_POLL_REMOVE) {
    self.watches_.erase(socket);
  } else {
    self.Watch(easy, socket,
               {.readable = what == CURL_POLL_IN || what == CURL_POLL_INOUT,
                .writable = what == CURL_POLL_OUT || what == CURL_POLL_INOUT});
  }
  return 0;
}

void HttpCall::Engine::Watch(CURL* easy, curl_socket_t socket, event::FdReadiness wanted) {
  if (const auto watch = watches_.find(socket); watch != watches_.end()) return watch->second.WaitFor(wanted);
  auto watch = event::FdWatch::Create(loop_, socket, wanted, [this, socket](event::FdReadiness ready) {
    const auto alive = shared_from_this();
    Act(socket, (ready.readable ? CURL_CSELECT_IN : 0) | (ready.writable ? CURL_CSELECT_OUT : 0) |
                    (ready.broken ? CURL_CSELECT_ERR : 0));
  });
  if (watch) {
    watches_.emplace(socket, *std::move(watch));
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
  // The result is about misuse only; what became of each request is told by a message.
  int running = 0;
  CallCurl([&] { ::curl_multi_socket_action(multi_.get(), socket, events, &running); });
}

// For what may call receivers.
template <typename Call>
void HttpCall::Engine::CallCurl(Call call) {
  {
    const SigpipeHeldBack held_back;
    in_curl_ = true;
    call();
    in_curl_ = false;
  }
  Settle();
}

void HttpCall::Engine::Settle() {
  for (const auto& exchange : std::exchange(leaving_, {})) Remove(*exchange);
  int left = 0;
  while (const CURLMsg* const message = ::curl_multi_info_read(multi_.get(), &left)) {
    const CURLcode code = message->data.result;
    Get<Exchange*>(message->easy_handle, CURLINFO_PRIVATE)->Done(code);
  }
}

Result<> HttpCall::Engine::SetTls(CURL* easy, const Url& url, bool tell_who_we_are) {
  Set(easy, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  Set(easy, CURLOPT_PROXY_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  Set(easy, CURLOPT_SSL_VERIFYPEER, 1L);
  Set(easy, CURLOPT_SSL_VERIFYHOST, 2L);
  const TlsSettings& tls = settings_.tls;
  if (tls.authorities) {
    const auto doing = [&] { return "reading the CA certificates for " + url.HostAndPort(); };
    TRY(authorities_.Trust(easy, TRY(ReadPem(*tls.authorities), doing())), doing());
  }
  if (!tls.client || !tell_who_we_are) return {};
  const auto doing = [&] { return "reading our client certificate for " + url.HostAndPort(); };
  std::string certificate = TRY(ReadPem(tls.client->certificate), doing());
  std::string key = TRY(ReadPem(tls.client->key), doing());
  SetBlob(easy, CURLOPT_SSLCERT_BLOB, certificate);
  SetBlob(easy, CURLOPT_SSLKEY_BLOB, key);
  // A key that needs a password is an error then; without this OpenSSL would ask for it on the terminal.
  Set(easy, CURLOPT_KEYPASSWD, "");
  return {};
}

HttpCall::Exchange::Exchange(const std::shared_ptr<Engine>& engine, HttpRequest request, HttpReceiver receiver)
    : engine_(engine), request_(std::move(request)), receiver_(std::move(receiver)), url_(request_.url) {}

void HttpCall::Exchange::Begin() {
  const auto engine = engine_.lock();
  if (over_ || !engine) return;
  if (request_.timeouts.whole) {
    whole_.emplace(engine->loop(),
                   [this] { End(NotDoneWithin(*request_.timeouts.whole, url_.HostAndPort(), HowFar())); });
    whole_->After(*request_.timeouts.whole);
  }
  if (request_.timeouts.stall) {
    stall_.emplace(engine->loop(), [this] { CheckStall(); });
    if (!paused_) stall_->After(*request_.timeouts.stall);
  }
  Heard();
  if (Result<> checked = Check(request_); !checked) {
    return End(std::move(checked).error().While("asking " + url_.HostAndPort()));
  }
  if (Result<> sent = Send(); !sent) End(std::move(sent));
}

// Asks the server that it is the turn of.
Result<> HttpCall::Exchange::Send() {
  const auto engine = engine_.lock();
  easy_.reset(::curl_easy_init());
  if (!easy_) return Error(ErrorKind::kSystem, "curl_easy_init failed");
  SetUp();
  TRY(engine->SetTls(easy(), url_, AtFirstServer()));
  return engine->Enter(*this);
}

void HttpCall::Exchange::SetUp() {
  Set(easy(), CURLOPT_PRIVATE, this);
  Set(easy(), CURLOPT_NOSIGNAL, 1L);
  Set(easy(), CURLOPT_ERRORBUFFER, curl_words_.data());
  Set(easy(), CURLOPT_URL, url_.text().c_str());
  AllowOnlyHttp(easy());
  Set(easy(), CURLOPT_USERAGENT, fmt::format("pintle/{}", kVersion).c_str());
  Set(easy(), CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2TLS));
  Set(easy(), CURLOPT_PIPEWAIT, 1L);  // To see whether a connection that is being made can be shared.
  Set(easy(), CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(request_.timeouts.connect.count()));
  Set(easy(), CURLOPT_TCP_KEEPALIVE, 1L);
  Set(easy(), CURLOPT_TCP_KEEPIDLE, kProbeAfterSeconds);
  Set(easy(), CURLOPT_TCP_KEEPINTVL, kProbeEverySeconds);
  Set(easy(), CURLOPT_SOCKOPTFUNCTION, &DropDeadConnections);
  LeaveLookupsBehind(easy());
  // Empty texts, since without any curl would look into the environment on its own.
  Set(easy(), CURLOPT_PROXY, Proxy().c_str());
  Set(easy(), CURLOPT_NOPROXY, engine_.lock()->settings().proxy.except.c_str());
  Set(easy(), CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  if (request_.compression == Compression::kAccepted) Set(easy(), CURLOPT_ACCEPT_ENCODING, "gzip, deflate");
  Set(easy(), CURLOPT_HEADERFUNCTION, static_cast<curl_write_callback>(&Exchange::TakeHeadLine));
  Set(easy(), CURLOPT_HEADERDATA, this);
  Set(easy(), CURLOPT_WRITEFUNCTION, static_cast<curl_write_callback>(&Exchange::TakePiece));
  Set(easy(), CURLOPT_WRITEDATA, this);
  SetUpBody();
  header_lines_ = HeaderLines();
  Set(easy(), CURLOPT_HTTPHEADER, header_lines_.get());
}

void HttpCall::Exchange::SetUpBody() {
  const std::string& method = request_.method;
  if (method == "HEAD") return Set(easy(), CURLOPT_NOBODY, 1L);
  if (!request_.body.empty() || method == "POST" || method == "PUT" || method == "PATCH") {
    Set(easy(), CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request_.body.size()));
    Set(easy(), CURLOPT_POSTFIELDS, request_.body.c_str());  // Not copied: the request stays.
  }
  Set(easy(), CURLOPT_CUSTOMREQUEST, method.c_str());
}

Lines HttpCall::Exchange::HeaderLines() const {
  Lines lines;
  // What curl would add for bodies of its own accord.
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

std::size_t HttpCall::Exchange::TakeHeadLine(char* line, std::size_t, std::size_t size, void* exchange) {
  auto& self = *static_cast<Exchange*>(exchange);
  return self.Taken(self.TakeHeadLine(std::string_view(line, size)), size);
}

std::size_t HttpCall::Exchange::TakePiece(char* piece, std::size_t, std::size_t size, void* exchange) {
  auto& self = *static_cast<Exchange*>(exchange);
  if (self.paused_ && !self.over_) {
    self.paused_in_curl_ = true;
    return CURL_WRITEFUNC_PAUSE;  // curl keeps the piece and offers it again.
  }
  return self.Taken(self.TakePiece(std::string_view(piece, size)), size);
}

// What curl is to be told: any number but the size makes it break off.
std::size_t HttpCall::Exchange::Taken(const Result<>& taken, std::size_t size) {
  if (!taken) failure_ = taken.error();
  return taken && !over_ ? size : size + 1;
}

Result<> HttpCall::Exchange::TakeHeadLine(std::string_view line) {
  Heard();
  // Trailers come the same way, and nobody asks for them.
  if (over_ || next_ || answered_) return {};
  if (TRY(head_.Line(line)) == HeadReader::State::kMore) return {};
  return TakeHead(head_.head());
}

Result<> HttpCall::Exchange::TakeHead(const HttpHead& head) {
  if (head.status == 407 && !Proxy().empty()) {
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
  Heard();
  if (over_ || next_) return {};
  body_size_ += piece.size();
  if (body_size_ > request_.body_limit) return BodyOverLimit(request_.body_limit, url_.HostAndPort());
  receiver_.body(piece);
  return {};
}

void HttpCall::Exchange::Done(CURLcode code) {
  if (over_) return;
  if (failure_) return End(*failure_);
  if (code != CURLE_OK) return End(Explain(Failure(code)));
  if (!next_) return End({});
  if (Result<> followed = Follow(); !followed) End(std::move(followed));
}

Result<> HttpCall::Exchange::Follow() {
  engine_.lock()->Remove(*this);
  url_ = *std::exchange(next_, std::nullopt);
  ++redirects_;
  head_ = HeadReader();
  return Send();
}

void HttpCall::Exchange::End(Result<> outcome) {
  const auto alive = shared_from_this();
  Cancel();
  // What the receiver holds goes with the call to it, so that a handle which is kept keeps nothing else.
  const HttpReceiver receiver = std::exchange(receiver_, {});
  receiver.end(std::move(outcome));
}

void HttpCall::Exchange::Cancel() {
  if (over_) return;
  over_ = true;
  stall_.reset();
  whole_.reset();
  if (const auto engine = engine_.lock()) engine->Leave(*this);
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
  Heard();
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

void HttpCall::Exchange::Heard() { last_heard_ = std::chrono::steady_clock::now(); }

// The timer is not set anew for each piece that comes: it looks when the last one came, and waits for the rest.
void HttpCall::Exchange::CheckStall() {
  const milliseconds patience = *request_.timeouts.stall;
  if (std::chrono::steady_clock::now() < last_heard_ + patience) return stall_->At(last_heard_ + patience);
  End(StalledFor(patience, url_.HostAndPort(), HowFar()));
}

Progress HttpCall::Exchange::HowFar() const {
  return {.answered = answered_,
          .body_received = static_cast<std::uint64_t>(Get<curl_off_t>(easy_.get(), CURLINFO_SIZE_DOWNLOAD_T)),
          .body_expected = body_expected_};
}

TransferFailure HttpCall::Exchange::Failure(CURLcode code) const {
  const auto engine = engine_.lock();
  TransferFailure failure = {.curl_code = code,
                             .detail = curl_words_.data(),
                             .verify_result = Get<long>(easy_.get(), CURLINFO_SSL_VERIFYRESULT),
                             .errno_value = static_cast<int>(Get<long>(easy_.get(), CURLINFO_OS_ERRNO)),
                             .tunnel_status = Get<long>(easy_.get(), CURLINFO_HTTP_CONNECTCODE),
                             .has_client_certificate = engine->settings().tls.client && AtFirstServer(),
                             .progress = HowFar(),
                             .server = url_.HostAndPort(),
                             .connect_timeout = request_.timeouts.connect};
  failure.proxy = ProxyInvolved(failure);
  return failure;
}

// curl does not tell whether what failed was the proxy, but its words do.
std::string HttpCall::Exchange::ProxyInvolved(const TransferFailure& failure) const {
  if (Proxy().empty()) return "";
  const ProxyName proxy = NameOfProxy(Proxy());
  const bool named = failure.tunnel_status != 0 || failure.curl_code == CURLE_COULDNT_RESOLVE_PROXY ||
                     failure.detail.find(fmt::format("{} port {}", proxy.host, proxy.port)) != std::string::npos;
  return named ? proxy.Text() : "";
}

HttpCall::HttpCall(std::shared_ptr<Exchange> exchange) : exchange_(std::move(exchange)) {}
HttpCall::HttpCall(HttpCall&&) noexcept = default;

HttpCall& HttpCall::operator=(HttpCall&& other) noexcept {
  const HttpCall before(std::exchange(exchange_, std::move(other.exchange_)));
  return *this;
}

HttpCall::~HttpCall() {
  if (exchange_) exchange_->Cancel();
}

void HttpCall::Pause() {
  if (exchange_) exchange_->Pause();
}

void HttpCall::Resume() {
  if (exchange_) exchange_->Resume();
}

HttpClient::HttpClient(std::shared_ptr<HttpCall::Engine> engine) : engine_(std::move(engine)) {}
HttpClient::HttpClient(HttpClient&&) noexcept = default;

HttpClient& HttpClient::operator=(HttpClient&& other) noexcept {
  const HttpClient before(std::exchange(engine_, std::move(other.engine_)));
  return *this;
}

HttpClient::~HttpClient() {
  if (engine_) engine_->CancelAll();
}

Result<HttpClient> HttpClient::Create(event::Loop& loop, Settings settings) {
  const auto engine = std::make_shared<HttpCall::Engine>(loop, std::move(settings));
  TRY(engine->Open(), "starting the HTTP client");
  return HttpClient(engine);
}

HttpCall HttpClient::Start(HttpRequest request, HttpReceiver receiver) {
  const auto exchange = std::make_shared<HttpCall::Exchange>(engine_, std::move(request), std::move(receiver));
  engine_->Add(exchange);
  return HttpCall(exchange);
}

HttpCall HttpClient::Fetch(HttpRequest request, std::function<void(Result<HttpResponse>)> done) {
  const auto response = std::make_shared<HttpResponse>();
  return Start(std::move(request), {.head = [response](const HttpHead& head) { response->head = head; },
                                    .body = [response](std::string_view piece) { response->body += piece; },
                                    .end =
                                        [response, done = std::move(done)](Result<> outcome) {
                                          if (!outcome) return done(std::move(outcome).error());
                                          done(std::move(*response));
                                        }});
}

void HttpClient::UseTls(TlsSettings tls) { engine_->settings().tls = std::move(tls); }

}  // namespace pintle::net
