// SPDX-License-Identifier: Apache-2.0
#pragma once

// The Ignition server as a part of a program.
//
//     auto service = TRY(IgnitionService::Begin(loop, settings, pools));
//     service->Serve(other_pools);        // whenever a pool has another config
//     for (const RequestCount& one : service->Counts().requests) ...
//
// All of this is for the loop's thread; requests are answered on threads of the server's own, from what it was given
// last.  `pools` says why, for a pool whose config cannot be had: its machines then get a 500, and try again.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "controller/access.h"
#include "controller/file_watch.h"
#include "controller/ignition_counts.h"
#include "controller/served_pool.h"
#include "controller/tls_files.h"
#include "event/loop.h"
#include "net/http_server.h"
#include "net/listen_address.h"
#include "net/rate_limit.h"
#include "net/tls_identity.h"

namespace pintle::controller {

// A machine asks a few times at most, but many may have one address: that of a load balancer.
inline constexpr net::Rate kUsualRate = {.per_second = 200, .burst = 5'000};

struct IgnitionSettings {
  std::optional<net::ListenAddress> secure = {};  // Configs over TLS: port 22623, in a cluster.
  std::string certificate_file = {};
  std::string key_file = {};
  net::TlsRules tls = {};
  std::optional<net::ListenAddress> plain = {};   // Configs without TLS, for this machine only.
  std::optional<net::ListenAddress> health = {};  // Without TLS, /healthz alone: port 22624.
  int threads = 2;
  net::Rate rate = kUsualRate;
  std::size_t connections_per_address = 1'024;  // Of 4,096 in all; 0: any number.
  AccessMode access = AccessMode::kOpen;
  std::string token_keys_file = {};  // Unless it is open to everyone.
};

class IgnitionService {
 public:
  static Result<std::unique_ptr<IgnitionService>> Begin(event::Loop& loop, const IgnitionSettings& settings,
                                                        ServedPools pools);

  void Serve(ServedPools pools);
  // Looks at once whether the certificate or the keys of tokens were renewed.
  void LookAtFiles();

  IgnitionCounts Counts() const { return counters_->Read(); }
  // Where it listens, as URLs.
  std::vector<std::string> Addresses() const;

 private:
  IgnitionService() = default;

  Result<> Open(event::Loop& loop, const IgnitionSettings& settings);
  Result<> OpenAccess(event::Loop& loop, const IgnitionSettings& settings);
  Result<> OpenSecure(event::Loop& loop, const IgnitionSettings& settings);
  Result<std::vector<std::string>> ReadPrivateKeys() const;
  void LookAtKeys();
  net::HttpHandler Handler() const;
  void Renew();

  ServedPools pools_;
  std::shared_ptr<const Access> access_;
  std::shared_ptr<const IgnitionCounters> counters_;
  std::unique_ptr<net::HttpServer> secure_;
  std::unique_ptr<net::HttpServer> plain_;
  std::unique_ptr<net::HttpServer> health_;
  std::unique_ptr<TlsFiles> certificate_;
  std::string keys_file_;
  std::unique_ptr<FileWatch> keys_watch_;
};

}  // namespace pintle::controller
