// SPDX-License-Identifier: Apache-2.0
#pragma once

// The Ignition server as a part of a program.
//
//     auto service = TRY(IgnitionService::Begin(loop, settings, pools));
//     service->Serve(new_pools);          // Whenever the config of a pool has changed.
//     for (const RequestCount& count : service->Counts().requests) ...
//
// All functions are called on the loop's thread.  The server's own threads answer requests, with the pools that were
// given last.  If a pool has no config, its entry in `pools` has the reason.  Then the pool's machines get the status
// 500, and try again.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "event/loop.h"
#include "net/http_server.h"
#include "net/listen_address.h"
#include "net/rate_limit.h"
#include "net/tls_identity.h"
#include "serving/access.h"
#include "serving/file_watch.h"
#include "serving/ignition_counts.h"
#include "serving/served_pool.h"
#include "serving/tls_files.h"

namespace pintle::serving {

// The usual limit for each client address.  A machine makes a few requests, but many machines may share one address:
// that of a load balancer.
inline constexpr net::Rate kUsualRate = {.per_second = 200, .burst = 5'000};

// Selects the source of the certificate for TLS.
enum class CertificateFrom { kFiles, kCaller };

struct IgnitionSettings {
  std::optional<net::ListenAddress> secure = {};  // Configs over TLS; in a cluster, on port 22623.
  CertificateFrom certificate_from = CertificateFrom::kFiles;
  std::string certificate_file = {};
  std::string key_file = {};
  net::TlsRules tls = {};
  std::optional<net::ListenAddress> plain = {};   // Configs without TLS; must be a loopback address.
  std::optional<net::ListenAddress> health = {};  // /healthz and /healthz/configs only, without TLS; on port 22624.
  int threads = 2;  // The threads of the server with TLS.  Each of the other servers has one.
  net::Rate rate = kUsualRate;
  std::size_t connections_per_address = 1'024;  // 0 is no limit.  All addresses together may have 4,096 connections.
  AccessMode access = AccessMode::kOpen;
  std::string token_keys_file = {};  // Needed unless access is open.
};

class IgnitionService {
 public:
  // `identity` is the certificate that is known already, if it comes from the caller.
  static Result<std::unique_ptr<IgnitionService>> Begin(event::Loop& loop, const IgnitionSettings& settings,
                                                        ServedPools pools, TlsFiles::Identity identity = nullptr);

  // Replaces the pools whose configs are served.
  void Serve(ServedPools pools);
  // Sets the certificate.  Call this only if the settings have CertificateFrom::kCaller and a secure address.  The
  // server begins to listen at that address when it gets its first certificate.  New connections use the latest
  // certificate.
  Result<> UseCertificate(TlsFiles::Identity identity);
  // Reads the files of the certificate and of the token keys again, and uses them if they have changed.
  void ReadFilesAgain();

  IgnitionCounts Counts() const { return counters_->Read(); }
  // Returns the time at which the certificate in use expires.  Returns nullopt if there is no server with TLS, if the
  // certificate comes from the caller, or if the time cannot be read from the certificate.
  std::optional<WallTime> CertificateExpiry() const { return certificate_ ? certificate_->expiry() : std::nullopt; }
  // Returns the URLs at which the server listens.
  std::vector<std::string> Addresses() const;

 private:
  IgnitionService() = default;

  Result<> Open(event::Loop& loop, const IgnitionSettings& settings, TlsFiles::Identity identity);
  Result<> OpenAccess(event::Loop& loop, const IgnitionSettings& settings);
  Result<> OpenSecure(event::Loop& loop, const IgnitionSettings& settings, TlsFiles::Identity known);
  Result<> ListenWith(TlsFiles::Identity identity);
  void Renew(TlsFiles::Identity identity);
  void ReadKeysAgain();
  net::HttpHandler Handler() const;
  net::HttpHandler HealthHandler() const;
  void ReplaceHandlers();

  ServedPools pools_;
  std::shared_ptr<const Access> access_;
  std::shared_ptr<const IgnitionCounters> counters_;
  net::HttpServerSettings secure_settings_;  // All but the identity, which ListenWith() adds.
  std::unique_ptr<net::HttpServer> secure_;
  std::unique_ptr<net::HttpServer> plain_;
  std::unique_ptr<net::HttpServer> health_;
  std::unique_ptr<TlsFiles> certificate_;  // Null without TLS, or if the certificate comes from the caller.
  std::string keys_file_;
  std::unique_ptr<FileWatch> keys_watch_;  // Null if access is open, because then no token is checked.
};

}  // namespace pintle::serving
