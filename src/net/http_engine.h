// SPDX-License-Identifier: Apache-2.0
#pragma once

// Runs curl on the loop, and owns the requests under way.
//
// curl may not be called from within what it calls.  So requests begin by way of Post(), and those that are dropped
// meanwhile leave when curl has returned.

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

  // Has curl work on what the request has set up, or no longer.
  Result<> Enter(Exchange& exchange);
  void Remove(Exchange& exchange);
  // The request is over.
  void Leave(Exchange& exchange);

  void Unpause(Exchange& exchange);

  // The request has waited in vain.  Its connection is closed if nothing has come on it since then, whomever for: over
  // HTTP/2 it would be kept otherwise, and all requests to come would be sent into the same void.
  void GiveUpConnection(const Exchange& exchange, MonotonicTime silent_since);

  Result<> SetTls(CURL* easy, const Url& url, bool tell_who_we_are);

  event::Loop& loop() { return loop_; }
  HttpClient::Settings& settings() { return settings_; }

 private:
  struct Watched {
    event::FdWatch watch;
    MonotonicTime heard;  // When something came last.
  };

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
  std::map<curl_socket_t, Watched> watches_;
  event::Timer timer_;
  bool in_curl_ = false;
  Authorities authorities_;
  Multi multi_;
};

}  // namespace pintle::net
