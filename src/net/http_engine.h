// SPDX-License-Identifier: Apache-2.0
#pragma once

// Runs curl on the loop, and owns the requests under way.
//
// curl must not be called from its own callbacks.  So requests begin through Post(), and requests that are dropped in a
// callback are removed after curl has returned.

#include <map>
#include <memory>
#include <set>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "event/loop.h"
#include "event/watches.h"
#include "net/authorities.h"
#include "net/http_client.h"
#include "net/types_curl.h"
#include "net/url.h"

namespace pintle::net {

class HttpCall::Engine : public std::enable_shared_from_this<Engine> {
 public:
  Engine(event::Loop& loop, HttpClient::Settings settings);
  ~Engine();

  Result<> Open();
  void Add(const std::shared_ptr<Exchange>& exchange);
  void CancelAll();

  // AddToCurl() hands the request to curl, and RemoveFromCurl() takes it back.
  Result<> AddToCurl(Exchange& exchange);
  void RemoveFromCurl(Exchange& exchange);
  // Called when the request is over: forgets it, and removes it from curl at once or after curl has returned.
  void Forget(Exchange& exchange);

  void Unpause(Exchange& exchange);

  // Called when the request has timed out.  Closes its connection if nothing has arrived on the connection since
  // `silent_since`, for any request.  Otherwise curl would keep an HTTP/2 connection, and send all later requests to a
  // server that does not answer.
  void GiveUpConnection(const Exchange& exchange, MonotonicTime silent_since);

  // Sets the authorities that a transfer trusts, and our client certificate if it is to be sent.
  Result<> SetTls(CURL* easy, const Url& url, bool with_client_certificate);

  event::Loop& loop() { return loop_; }
  HttpClient::Settings& settings() { return settings_; }

 private:
  // A socket that the loop watches for curl.
  struct Watched {
    event::FdWatch watch;
    MonotonicTime last_read;  // When data arrived last.
  };

  // These two are callbacks of curl.
  static int WatchSocket(CURL* easy, curl_socket_t socket, int wanted, void* engine, void* watched);
  static int SetTimer(CURLM* multi, long timeout_ms, void* engine);

  void Watch(CURL* easy, curl_socket_t socket, event::FdReadiness wanted);
  // Reports events of a socket to curl, or that the timer has fired.
  void Act(curl_socket_t socket, int events);
  template <typename Call>
  void CallCurl(Call call);
  void FinishTransfers();

  event::Loop& loop_;
  HttpClient::Settings settings_;
  std::set<std::shared_ptr<Exchange>> exchanges_;
  std::vector<std::shared_ptr<Exchange>> to_remove_;  // Forgotten while curl was running.
  std::map<curl_socket_t, Watched> watches_;
  event::Timer timer_;
  bool in_curl_ = false;
  Authorities authorities_;
  Multi multi_;
};

}  // namespace pintle::net
