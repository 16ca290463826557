// SPDX-License-Identifier: Apache-2.0
#pragma once

// Serves the read-only page of the cluster (dashboard/): at a loopback address to everyone who can reach this address,
// and over TLS at any address to those who have the right to read the page (page_guard.h).
//
// The page is renewed when the copy of the cluster has changed, at most once a second.  While no browser follows the
// page, only its data is renewed.  The server's thread makes the HTML when a browser requests the page.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "controller/cluster.h"
#include "controller/page_guard.h"
#include "dashboard/answers.h"
#include "dashboard/document.h"
#include "dashboard/updates.h"
#include "event/watches.h"
#include "net/http_server.h"
#include "serving/tls_files.h"

namespace pintle::controller {

// The address at which the page is served over TLS, and the files with the certificate and its key.
struct GuardedPageSettings {
  net::ListenAddress address;
  std::string certificate_file;
  std::string key_file;
};

struct ClusterPageSettings {
  std::optional<net::ListenAddress> loopback = std::nullopt;
  std::optional<GuardedPageSettings> guarded = std::nullopt;

  // Returns whether the page is served at any address.
  bool IsServed() const { return loopback || guarded; }
};

class ClusterPage {
 public:
  // The clock and the cluster must outlive the page.  `review` asks the API server about a visitor.
  static Result<std::unique_ptr<ClusterPage>> Begin(event::Loop& loop, const Clock& clock, const Cluster& cluster,
                                                    const ClusterPageSettings& settings, PageGuard::Review review);
  ClusterPage(const ClusterPage&) = delete;
  ClusterPage& operator=(const ClusterPage&) = delete;

  // Renews the page within a second.
  void RenewSoon();

 private:
  ClusterPage(event::Loop& loop, const Clock& clock, const Cluster& cluster);

  Result<> ServeAtLoopback(const net::ListenAddress& address);
  Result<> ServeGuarded(event::Loop& loop, const GuardedPageSettings& settings, PageGuard::Review review);
  void Renew();
  void KeepStreamsAlive();
  // Sends the differences between the present and the next contents to the browsers that follow the page.
  void AddChanges(const dashboard::Contents& next);
  net::HttpHandler Handler(dashboard::Hosts hosts);
  net::HttpHandler GuardedHandler();

  const Clock& clock_;
  const Cluster& cluster_;
  event::Timer soon_;
  event::Timer later_;  // Renews the page of an unchanged cluster, since certificates have fewer days left each day.
  event::Timer keep_alive_timer_;
  dashboard::Updates updates_;
  std::shared_ptr<const dashboard::Contents> contents_;
  // The pieces of the page that is made from contents_; may be empty while no browser follows the page.
  std::vector<dashboard::Piece> pieces_;
  std::shared_ptr<PageGuard> guard_;  // guard_ and certificate_ are set if there is a guarded server.
  // Members are destroyed in the reverse order.  The threads of the servers use the members above, so the servers come
  // after them.  The callback of certificate_ uses guarded_, so certificate_ comes after guarded_.
  std::unique_ptr<net::HttpServer> loopback_;
  std::unique_ptr<net::HttpServer> guarded_;
  std::unique_ptr<serving::TlsFiles> certificate_;
};

}  // namespace pintle::controller
