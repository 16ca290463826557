// SPDX-License-Identifier: Apache-2.0
#include "controller/cluster_ignition.h"

#include <fmt/core.h>

#include <cerrno>
#include <chrono>
#include <optional>
#include <utility>

#include "base/log.h"
#include "controller/events.h"
#include "serving/events.h"
#include "serving/tls_profile.h"

namespace pintle::controller {
namespace {

// The token in new machines' kubeconfig is renewed from time to time, so the feed is looked at again at this interval.
constexpr auto kFeedAgain = std::chrono::seconds(30);
// While another program listens at the address of the Ignition server, the address is tried again after this time.  So
// when that program ends, new machines are without a server for this long at most.
constexpr auto kAddressAgain = std::chrono::seconds(1);

}  // namespace

Result<std::unique_ptr<ClusterIgnition>> ClusterIgnition::Begin(event::Loop& loop, const kube::Client& client,
                                                                const Cluster& cluster, IgnitionOptions options) {
  std::unique_ptr<ClusterIgnition> ignition(new ClusterIgnition(loop, client, cluster, std::move(options)));
  const auto opened = ignition->Open();
  if (!opened && opened.error().errno_value() != EADDRINUSE) return opened.error();
  if (!opened) ignition->AwaitAddress(opened.error());
  return ignition;
}

ClusterIgnition::ClusterIgnition(event::Loop& loop, const kube::Client& client, const Cluster& cluster,
                                 IgnitionOptions options)
    : loop_(loop),
      options_(std::move(options)),
      later_(loop,
             [this] {
               Look();
               counted_();
             }),
      open_again_(loop, [this] { OpenAgain(); }),
      feed_(client, cluster, options_.feed,
            {.serve = [this](serving::ServedPools pools) { Serve(std::move(pools)); },
             .trouble = [](const Error& error) { log::Warning("serving Ignition: " + error.message(), kTrouble); }}) {
  if (options_.certificate_secret.name.empty()) return;
  certificate_ = std::make_unique<CertificateSecret>(
      client,
      CertificateSecret::Settings{
          .secret = options_.certificate_secret,
          .rules = options_.follows_tls_profile ? std::nullopt : std::optional(options_.service.tls)},
      CertificateSecret::Listener{
          .use = [this](serving::TlsFiles::Identity identity) { return Use(std::move(identity)); },
          .trouble =
              [](const Error& error) {
                log::Warning("The Ignition server cannot use a new certificate: " + error.message(),
                             serving::kCertificateTrouble);
              }});
  if (options_.follows_tls_profile) FollowTlsProfile(client);
}

// New machines wait for the server, so the profile is requested again within seconds when it could not be read.
void ClusterIgnition::FollowTlsProfile(const kube::Client& client) {
  kube::Client copy = client;
  api_servers_ = std::make_unique<OverlaidMirror<api::ApiServer>>(
      copy, Need::kIfInstalled,
      OverlaidObjects::Listener{.changed = [this] { UseTlsProfile(); },
                                .trouble =
                                    [this](const Error& error) {
                                      is_profile_refused_ = is_profile_refused_ || error.kind() == ErrorKind::kInvalid;
                                      ReportProfileTrouble(error);
                                    },
                                .unreadable = [this](const kube::ResourceKind&, const kube::ObjectName&,
                                                     const Error& why) { ReportProfileTrouble(why); }},
      kube::Selection{.field_selector = std::string("metadata.name=") + kSingletonName});
}

void ClusterIgnition::ReportProfileTrouble(const Error& error) {
  if (std::exchange(profile_trouble_, error.message()) == error.message()) return;
  log::Warning("The Ignition server cannot read the TLS profile of the cluster: " + error.message(), kTrouble);
}

// Until the profile is known, the server does not listen, because it might accept more than the profile permits.  A
// cluster without the kind, or without the right to read it, has the default profile.
void ClusterIgnition::UseTlsProfile() {
  const bool is_read = api_servers_ && api_servers_->is_ready();
  if (!is_read && !is_profile_refused_) return;
  const api::ApiServer* const server = api_servers_->Find(kSingletonName);
  bool is_unreadable = false;
  api_servers_->ForEachUnreadable([&](const auto&, const Error&) { is_unreadable = true; });
  if (server == nullptr && is_unreadable) return;
  certificate_->SetRules(serving::TlsRulesOf(server == nullptr ? std::nullopt : server->spec.tls_security_profile));
}

void ClusterIgnition::Look() {
  later_.After(kFeedAgain);
  feed_.Look();
}

void ClusterIgnition::AddTo(Metrics& metrics) const {
  if (!service_) return;
  const serving::IgnitionCounts counts = service_->Counts();
  for (const serving::RequestCount& answers : counts.requests) {
    metrics.ignition_answers.push_back({.pool = answers.pool,
                                        .version = std::string(answers.version),
                                        .code = answers.status,
                                        .count = answers.count});
  }
  for (const auto& [pool, count] : counts.served_without_token) metrics.tokenless_ignition_answers += count;
  const auto expiry = certificate_ ? certificate_->expiry() : service_->CertificateExpiry();
  if (expiry) metrics.certificate_expiries[kServedCertificate] = *expiry;
}

std::string ClusterIgnition::WhyUnready() {
  if (was_ready_) return "";
  if (certificate_ && !certificate_->has_rules()) {
    return fmt::format(
        "the Ignition server does not know yet which TLS profile the cluster has: it needs the APIServer {}{}",
        kSingletonName, profile_trouble_.empty() ? "" : ": " + profile_trouble_);
  }
  if (certificate_ && !identity_) {
    return fmt::format("the Ignition server has no certificate yet that it can use: it needs the Secret {}",
                       options_.certificate_secret.ToString());
  }
  if (!feed_.obstacle().empty()) {
    return fmt::format("the Ignition server has no config for new machines yet: {}", feed_.obstacle());
  }
  was_ready_ = true;
  return "";
}

std::vector<std::string> ClusterIgnition::Addresses() const {
  return service_ ? service_->Addresses() : std::vector<std::string>();
}

Result<> ClusterIgnition::Open() {
  service_ = TRY(serving::IgnitionService::Begin(loop_, options_.service, pools_, identity_));
  trouble_.clear();  // Another wait is logged again, even if it is for the same address.
  for (const std::string& address : Addresses()) log::Info("Serving Ignition at " + address);
  return {};
}

void ClusterIgnition::OpenAgain() {
  if (const auto opened = Open(); !opened) AwaitAddress(opened.error());
}

void ClusterIgnition::AwaitAddress(const Error& error) {
  open_again_.After(kAddressAgain);
  if (std::exchange(trouble_, error.message()) == error.message()) return;
  log::Warning(error.message() + "; the Ignition server starts when the address is free", kTrouble);
}

void ClusterIgnition::Serve(serving::ServedPools pools) {
  pools_ = std::move(pools);
  if (service_) service_->Serve(pools_);
}

Result<> ClusterIgnition::Use(serving::TlsFiles::Identity identity) {
  identity_ = std::move(identity);
  if (!service_) return {};
  auto used = service_->UseCertificate(identity_);
  if (used || used.error().errno_value() != EADDRINUSE) return used;
  // The server begins to listen for configs with its first certificate, and another program has the address for this.
  // Until this address is free, the server leaves its other addresses, too.
  service_.reset();
  AwaitAddress(used.error());
  return {};
}

}  // namespace pintle::controller
