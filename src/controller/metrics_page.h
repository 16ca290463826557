// SPDX-License-Identifier: Apache-2.0
#pragma once

// Serves the metrics over HTTP at /metrics, a liveness probe at /healthz, and at /readyz a probe that succeeds when the
// cluster has been read and the Ignition server, if there is one, has what it needs.
//
// The server has threads of its own and gets a new page when something has changed, at most once a second.  Its threads
// keep answering when the loop hangs, but the page is then outdated, above all about which replica leads.  So the
// threads check when the loop last ran, and answer 503 if that is too long ago.

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "event/heartbeat.h"
#include "event/watches.h"
#include "net/http_server.h"

namespace pintle::controller {

// The inputs of the server's answers.
struct Page {
  std::shared_ptr<const std::string> metrics;
  std::string unread_kinds;  // The kinds that have not been read yet: "nodes, pods".  Empty when all have been read.
  std::string why_not_ready = {};  // Another reason why the replica is not ready, or "".
};

// Answers a request from the page.  `silence` is the time since the loop last ran.
net::HttpAnswer AnswerFrom(const Page& page, std::chrono::nanoseconds silence, const net::IncomingRequest& request);

class MetricsPage {
 public:
  // `make` makes the page; it is called on the loop's thread.
  static Result<std::unique_ptr<MetricsPage>> Begin(event::Loop& loop, const net::ListenAddress& address,
                                                    std::function<Page()> make);
  MetricsPage(const MetricsPage&) = delete;
  MetricsPage& operator=(const MetricsPage&) = delete;

  // Makes a new page within a second.
  void RenewSoon();

 private:
  MetricsPage(event::Loop& loop, std::function<Page()> make);

  // Makes a page, and returns the handler that answers from it.
  net::HttpHandler Handler();
  void Renew();

  std::function<Page()> make_;
  event::Heartbeat heartbeat_;
  event::Timer soon_;
  std::unique_ptr<net::HttpServer> server_;  // Destroyed first, since its threads read the heartbeat.
};

}  // namespace pintle::controller
