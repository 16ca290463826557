// SPDX-License-Identifier: Apache-2.0
#pragma once

// Serves the read-only page of the cluster (dashboard/) at a loopback address.
//
// The page is renewed when the copy of the cluster has changed, at most once a second.  While no browser follows the
// page, only its data is renewed.  The server's thread makes the HTML when a browser requests the page.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "controller/cluster.h"
#include "dashboard/document.h"
#include "dashboard/updates.h"
#include "event/watches.h"
#include "net/http_server.h"

namespace pintle::controller {

class ClusterPage {
 public:
  // The clock and the cluster must outlive the page.  The address must be a loopback address.
  static Result<std::unique_ptr<ClusterPage>> Begin(event::Loop& loop, const Clock& clock, const Cluster& cluster,
                                                    const net::ListenAddress& address);
  ClusterPage(const ClusterPage&) = delete;
  ClusterPage& operator=(const ClusterPage&) = delete;

  // Renews the page soon.
  void Changed();

 private:
  ClusterPage(event::Loop& loop, const Clock& clock, const Cluster& cluster);

  void Renew();
  void KeepStreamsAlive();
  void AddChanges(const dashboard::Contents& next);
  net::HttpHandler Handler();

  const Clock& clock_;
  const Cluster& cluster_;
  event::Timer soon_;
  event::Timer later_;  // The days that certificates have left change without a change of the cluster.
  event::Timer alive_;
  dashboard::Updates updates_;
  std::shared_ptr<const dashboard::Contents> contents_;
  std::vector<dashboard::Piece> pieces_;     // Of contents_; may be empty while no browser follows the page.
  std::unique_ptr<net::HttpServer> server_;  // Destroyed first, since its threads use the updates.
};

}  // namespace pintle::controller
