// SPDX-License-Identifier: Apache-2.0
#pragma once

// A request of the HTTP client with its state, from its start to its end.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "event/loop.h"
#include "net/http_client.h"
#include "net/http_engine.h"
#include "net/http_failure.h"
#include "net/http_message.h"
#include "net/types_curl.h"
#include "net/url.h"

namespace pintle::net {

class HttpCall::Exchange : public std::enable_shared_from_this<Exchange> {
 public:
  Exchange(const std::shared_ptr<Engine>& engine, HttpRequest request, HttpReceiver receiver);

  void Begin();
  void Cancel();
  void Pause();
  void Resume();
  // Ends the request with an error in the loop, after curl has returned.
  void FailSoon(Error error);
  // Called when curl has finished the transfer.
  void Done(CURLcode code);
  // The second part of Resume(), which the loop calls after curl has returned: makes curl continue the transfer.
  void Unpause();

  CURL* easy() const { return easy_.get(); }

 private:
  // These four are callbacks of curl.
  static curl_socket_t OpenRemoteSocket(void* exchange, curlsocktype purpose, curl_sockaddr* address);
  static int NoteSent(CURL* easy, curl_infotype type, char* text, std::size_t size, void* exchange);
  static std::size_t TakeHeadLine(char* line, std::size_t always_one, std::size_t size, void* exchange);
  static std::size_t TakePiece(char* piece, std::size_t always_one, std::size_t size, void* exchange);

  Result<> Send();
  // Follows a redirect.
  Result<> Follow();
  void SetUp();
  void SetUpBody();
  // Lets curl report what it sends, which sets is_sent_to_proxy_.
  void NoteWhatIsSent();
  Lines HeaderLines() const;
  // Returns false after a redirect to another server, which must not get the credentials of the request.
  bool AtFirstServer() const { return url_.SameOrigin(request_.url); }

  Result<> TakeHeadLine(std::string_view line);
  Result<> TakeHead(const HttpHead& head);
  Result<> TakePiece(std::string_view piece);
  std::size_t CallbackResult(const Result<>& taken, std::size_t size);

  void CheckStall();
  // Called when the time for the whole request is over.
  void EndLate();
  void GiveUp(std::chrono::milliseconds patience, Error error);
  void NoteActivity();
  const std::string& Proxy() const { return engine_.lock()->settings().proxy.For(url_); }
  AnswerProgress Progress() const;
  TransferFailure Failure(CURLcode code) const;
  std::string ProxyInvolved(const TransferFailure& failure) const;
  void End(Result<> outcome);

  std::weak_ptr<Engine> engine_;
  HttpRequest request_;
  HttpReceiver receiver_;
  bool over_ = false;  // Whether the request has ended or was cancelled.  Then the receiver is not called any more.

  Url url_;  // The current URL, after redirects.
  int redirects_ = 0;
  std::optional<Url> next_;  // The target of a redirect that has arrived and is not followed yet.
  // Whether the current request was sent to a proxy, and not through a tunnel.  Unset until the request is sent.
  std::optional<bool> is_sent_to_proxy_;
  HeadReader head_;
  bool answered_ = false;
  std::optional<std::uint64_t> body_expected_;
  std::uint64_t body_size_ = 0;  // After decompression.
  std::optional<Error> failure_;
  bool has_refused_address_ = false;  // Whether the server has a local address, to which this client does not connect.

  bool paused_ = false;
  bool paused_in_curl_ = false;
  MonotonicTime last_activity_;
  std::optional<event::Timer> stall_;
  std::optional<event::Timer> whole_;

  Lines header_lines_;
  std::array<char, CURL_ERROR_SIZE> curl_message_ = {};
  Easy easy_;
};

}  // namespace pintle::net
