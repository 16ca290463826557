// SPDX-License-Identifier: Apache-2.0
#pragma once

// The metrics over HTTP: GET of /metrics; of /healthz for whoever starts this again when it hangs; and of /readyz for
// whoever waits until it has read the cluster.
//
// The server has threads of its own and is given a page whenever there is another one, once a second at most.  These
// threads go on answering when the loop hangs, so they look at when it turned last: what they were given before that is
// not how things are, least of all whether this replica leads.

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "event/heartbeat.h"
#include "event/watches.h"
#include "net/http_server.h"

namespace pintle::controller {

struct Page {
  std::shared_ptr<const std::string> metrics;
  std::string unread;  // What of the cluster is not here yet: "nodes, pods".  Empty: all is, and this is ready.
};

// `silence` is for how long the loop has not turned.
net::HttpAnswer AnswerFrom(const Page& page, std::chrono::nanoseconds silence, const net::IncomingRequest& request);

class MetricsPage {
 public:
  static Result<std::unique_ptr<MetricsPage>> Begin(event::Loop& loop, const net::ListenAddress& address,
                                                    std::function<Page()> make);
  MetricsPage(const MetricsPage&) = delete;
  MetricsPage& operator=(const MetricsPage&) = delete;

  // The page will be made anew soon.
  void Changed();

 private:
  MetricsPage(event::Loop& loop, std::function<Page()> make);

  net::HttpHandler Handler();
  void Renew();

  std::function<Page()> make_;
  event::Heartbeat heartbeat_;
  event::Timer soon_;
  std::unique_ptr<net::HttpServer> server_;  // Destroyed first: its threads look at the heartbeat.
};

}  // namespace pintle::controller
