// SPDX-License-Identifier: Apache-2.0
#pragma once

// The Ignition server of a replica, which serves new machines the configs of the cluster.
//
// Another program may listen at the server's address: before a takeover, the Machine Config Operator's server does.
// Meanwhile, the replica does everything else, and reads everything that the server needs, so that nothing but the
// address is missing.  The replica serves Ignition as soon as the address is free.

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "controller/certificate_secret.h"
#include "controller/cluster.h"
#include "controller/generated_kinds.h"
#include "controller/ignition_feed.h"
#include "controller/metrics.h"
#include "controller/overlaid_mirror.h"
#include "event/loop.h"
#include "event/watches.h"
#include "kube/client.h"
#include "kube/resource_kind.h"
#include "serving/ignition_service.h"

namespace pintle::controller {

struct IgnitionOptions {
  serving::IgnitionSettings service;
  IgnitionFeedSettings feed;
  kube::ObjectName certificate_secret = {};  // The Secret with the server's certificate; no name if it is in files.
  // Follows the TLS profile of the cluster's APIServer in place of service.tls.  Only for a certificate in a Secret.
  bool follows_tls_profile = false;
};

class ClusterIgnition {
 public:
  // The loop and the cluster must outlive this object.
  static Result<std::unique_ptr<ClusterIgnition>> Begin(event::Loop& loop, const kube::Client& client,
                                                        const Cluster& cluster, IgnitionOptions options);
  ClusterIgnition(const ClusterIgnition&) = delete;
  ClusterIgnition& operator=(const ClusterIgnition&) = delete;

  // Must be called when the cluster may have changed.
  void Look();

  // `counted` is called when Look() has not been called for 30 seconds: the counts of requests and the expiry of the
  // certificate, which AddTo() adds, change without a change of the cluster.
  void OnCount(std::function<void()> counted) { counted_ = std::move(counted); }

  // Adds the counts of requests and the expiry of the certificate.
  void AddTo(Metrics& metrics) const;

  // Returns what the server still lacks besides its address, or "" if it lacks nothing.  Once the result was empty, it
  // stays empty: the server keeps its certificate when the Secret is damaged later, and a replica that also serves
  // other clients must not become unready.
  std::string WhyUnready();

  // Returns the URLs at which the server listens; none while the address is not free.
  std::vector<std::string> Addresses() const;

 private:
  ClusterIgnition(event::Loop& loop, const kube::Client& client, const Cluster& cluster, IgnitionOptions options);

  // Begins to listen.
  Result<> Open();
  void OpenAgain();
  // Opens the server again in a moment.  `error` is the reason why the server cannot listen now.
  void AwaitAddress(const Error& error);
  void Serve(serving::ServedPools pools);
  Result<> Use(serving::TlsFiles::Identity identity);
  void FollowTlsProfile(const kube::Client& client);
  void ReportProfileTrouble(const Error& error);
  void UseTlsProfile();

  event::Loop& loop_;
  const IgnitionOptions options_;
  std::string trouble_;     // Why the server does not listen now; each wait logs a reason once.
  bool was_ready_ = false;  // WhyUnready() has returned "".
  std::function<void()> counted_ = [] {};
  event::Timer later_;
  event::Timer open_again_;
  serving::ServedPools pools_;                         // The pools to serve when the server listens.
  serving::TlsFiles::Identity identity_;               // The latest identity of certificate_.
  std::unique_ptr<serving::IgnitionService> service_;  // Exists while the server listens.
  IgnitionFeed feed_;
  std::unique_ptr<CertificateSecret> certificate_;  // Exists if the certificate is in a Secret.
  std::string profile_trouble_;                     // Why the TLS profile cannot be read; it is logged once.
  bool is_profile_refused_ = false;                 // The API server has refused to list APIServers.
  std::unique_ptr<OverlaidMirror<api::ApiServer>> api_servers_;  // Exists if the TLS profile is followed.
};

}  // namespace pintle::controller
