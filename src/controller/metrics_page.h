// SPDX-License-Identifier: Apache-2.0
#pragma once

// Serves the metrics over HTTP at /metrics, a liveness probe at /healthz, and at /readyz a probe that succeeds when the
// cluster has been read and the Ignition server, if there is one, has what it needs.
//
// The server has threads of its own and gets a new page when something has changed, at most once a second.  Its threads
// keep answering when the loop hangs, but the page is then outdated, above all about which replica leads.  So the
// threads check when the loop last ran, and answer 503 if that is too long ago.
//
// Every pod of a cluster may be able to use up the connections of the address with the metrics.  If the kubelet then
// got no answer to its probe, it would restart the leader.  So the probes can have an address of their own, which only
// the kubelet reaches.

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "event/heartbeat.h"
#include "event/watches.h"
#include "net/http_server.h"

namespace pintle::controller {

// The inputs of the server's answers.
struct MetricsPageContents {
  std::shared_ptr<const std::string> metrics;
  std::string unread_kinds;  // The kinds that have not been read yet: "nodes, pods".  Empty when all have been read.
  std::string why_not_ready = {};  // Another reason why the replica is not ready, or "".
};

// Answers a request from the page.  `silence` is the time since the loop last ran.
net::HttpAnswer AnswerFrom(const MetricsPageContents& page, std::chrono::nanoseconds silence,
                           const net::IncomingRequest& request);

struct MetricsAddresses {
  std::optional<net::ListenAddress> all;     // Where the metrics and the probes are answered.
  std::optional<net::ListenAddress> probes;  // Where only the probes are answered.
};

class MetricsPage {
 public:
  // `make` makes the page; it is called on the loop's thread.
  static Result<std::unique_ptr<MetricsPage>> Begin(event::Loop& loop, const MetricsAddresses& addresses,
                                                    std::function<MetricsPageContents()> make);
  MetricsPage(const MetricsPage&) = delete;
  MetricsPage& operator=(const MetricsPage&) = delete;

  // Makes a new page within a second.
  void RenewSoon();

  // Returns the addresses, with the ports that the kernel chose if port 0 was given.
  MetricsAddresses addresses() const;

 private:
  MetricsPage(event::Loop& loop, std::function<MetricsPageContents()> make);

  // Selects the paths of an address.
  enum class Paths { kAll, kProbes };

  // Returns the handler that answers from the page.
  net::HttpHandler HandlerFor(std::shared_ptr<const MetricsPageContents> page, Paths paths);
  std::shared_ptr<const MetricsPageContents> MakePage();
  void Renew();

  std::function<MetricsPageContents()> make_;
  event::Heartbeat heartbeat_;
  event::Timer soon_;
  // Destroyed first, since their threads read the heartbeat.
  std::unique_ptr<net::HttpServer> all_;
  std::unique_ptr<net::HttpServer> probes_;
};

}  // namespace pintle::controller
