// SPDX-License-Identifier: Apache-2.0
#include "controller/cluster_page.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <chrono>
#include <optional>
#include <random>
#include <utility>

#include "base/log.h"
#include "controller/pool_members.h"
#include "pool/rollout_policy.h"
#include "serving/events.h"

namespace pintle::controller {
namespace {

constexpr auto kShortestBetweenRenewals = std::chrono::seconds(1);
// An unchanged page is renewed after this time.
constexpr auto kLongestBetweenRenewals = std::chrono::hours(1);
constexpr std::size_t kMostConnections = 64;  // At the loopback address.
// At a guarded address, one client must not keep other clients out.  All visitors that come through an authenticating
// proxy count as one client.
constexpr std::size_t kMostGuardedConnections = 256;
constexpr std::size_t kMostConnectionsPerClient = 96;
// A client with an IPv4 and an IPv6 address counts as two clients.
static_assert(kMostConnectionsPerClient * 2 < kMostGuardedConnections);
constexpr net::Rate kGuardedRate = {.per_second = 100, .burst = 500};
// A visitor waits no longer than this for the API server's answer.
constexpr auto kVisitorPatience = std::chrono::seconds(20);
// Each stream gets a comment at this interval: the server and the proxies on the way, such as `kubectl port-forward`,
// may end a silent connection.
constexpr auto kBetweenComments = std::chrono::seconds(20);
static_assert(kBetweenComments * 3 < net::HttpServerLimits().stream_idle_time,
              "the server would end the stream of a page on which nothing changes");

// Returns an identity for dashboard::Updates, which differs between replicas and between their starts.
std::string RandomIdentity() {
  std::random_device random;
  return fmt::format("{:08x}", random());
}

dashboard::ClusterState StateOf(const View& view) {
  const PoolMembers members = MakePoolMembers(view);
  std::vector<dashboard::PoolAndNodes> pools;
  for (const api::MachineConfigPool* pool : view.pools) {
    pools.push_back({pool, members.Of(pool->metadata.name), pool::ChoosePolicy(*pool, view.rollout_policies).policy});
  }
  return dashboard::StateOf(pools, view.machine_config_nodes, view.controller_config);
}

}  // namespace

Result<std::unique_ptr<ClusterPage>> ClusterPage::Begin(event::Loop& loop, const Clock& clock, const Cluster& cluster,
                                                        const ClusterPageSettings& settings, PageGuard::Review review) {
  std::unique_ptr<ClusterPage> page(new ClusterPage(loop, clock, cluster));
  if (settings.loopback) TRY(page->ServeAtLoopback(*settings.loopback), "--page");
  if (settings.guarded) TRY(page->ServeGuarded(loop, *settings.guarded, std::move(review)), "--page-listen");
  return page;
}

Result<> ClusterPage::ServeAtLoopback(const net::ListenAddress& address) {
  if (!net::IsLoopback(address)) {
    return Error(ErrorKind::kInvalid,
                 fmt::format("everyone who reaches this address may read the page, so it must be a loopback address, "
                             "such as 127.0.0.1:8798, and not {}; --page-listen serves the page at another address to "
                             "those who have a token",
                             net::ToText(address)));
  }
  loopback_ = TRY(net::HttpServer::Begin({.listen = address, .limits = {.connections = kMostConnections}},
                                         Handler(dashboard::Hosts::kLoopback)));
  return {};
}

Result<> ClusterPage::ServeGuarded(event::Loop& loop, const GuardedPageSettings& settings, PageGuard::Review review) {
  guard_ = PageGuard::Create(loop, clock_, std::move(review));
  certificate_ = TRY(serving::TlsFiles::Open(
      loop, settings.certificate_file, settings.key_file, {}, [this](Result<serving::TlsFiles::Identity> identity) {
        if (identity) return guarded_->SetIdentity(*std::move(identity));
        log::Warning("The previous certificate of the page stays in use: " + identity.error().message(),
                     serving::kCertificateTrouble);
      }));
  const net::HttpServerLimits limits = {.connections = kMostGuardedConnections,
                                        .connections_per_address = kMostConnectionsPerClient,
                                        .later_answer_time = kVisitorPatience,
                                        .later_answers_per_address = kMostConnectionsPerClient,
                                        .rate = kGuardedRate};
  guarded_ = TRY(net::HttpServer::Begin(
      {.listen = settings.address, .identity = certificate_->first_identity(), .limits = limits}, GuardedHandler()));
  log::Info("Serving the page at https://" + net::ToText(guarded_->address()));
  return {};
}

ClusterPage::ClusterPage(event::Loop& loop, const Clock& clock, const Cluster& cluster)
    : clock_(clock),
      cluster_(cluster),
      soon_(loop, [this] { Renew(); }),
      later_(loop, [this] { Renew(); }),
      keep_alive_timer_(loop, [this] { KeepStreamsAlive(); }),
      updates_(RandomIdentity()),
      contents_(std::make_shared<const dashboard::Contents>(
          dashboard::Contents{.cluster = {}, .timeline = {}, .unread_kinds = "the cluster", .now = clock.Wall()})) {
  keep_alive_timer_.After(kBetweenComments);
  RenewSoon();
}

void ClusterPage::KeepStreamsAlive() {
  keep_alive_timer_.After(kBetweenComments);
  updates_.KeepAlive();
}

void ClusterPage::RenewSoon() {
  if (!soon_.armed()) soon_.After(kShortestBetweenRenewals);
}

void ClusterPage::Renew() {
  later_.After(kLongestBetweenRenewals);
  dashboard::Contents next = {.cluster = {},
                              .timeline = contents_->timeline,
                              .unread_kinds = fmt::format("{}", fmt::join(cluster_.UnreadKinds(), ", ")),
                              .now = clock_.Wall()};
  if (next.unread_kinds.empty()) next.cluster = StateOf(cluster_.Look());
  // The first whole copy of the cluster is not a change of the cluster.
  if (next.unread_kinds.empty() && contents_->unread_kinds.empty()) {
    dashboard::AddTo(next.timeline, next.now, dashboard::DifferencesOf(contents_->cluster, next.cluster));
  }
  // Nothing reports that another kind has been read, so Renew() polls until all kinds have been read.
  if (!next.unread_kinds.empty()) RenewSoon();
  AddChanges(next);
  contents_ = std::make_shared<const dashboard::Contents>(std::move(next));
  if (loopback_) loopback_->SetHandler(Handler(dashboard::Hosts::kLoopback));
  if (guarded_) guarded_->SetHandler(GuardedHandler());
}

void ClusterPage::AddChanges(const dashboard::Contents& next) {
  if (!updates_.HasFollowers()) {
    pieces_ = {};
    // A browser that has loaded the old page may be about to follow it; AddReload() makes this browser load the page
    // again.
    return updates_.AddReload();
  }
  std::vector<dashboard::Piece> pieces = dashboard::PiecesOf(next);
  if (pieces_.empty()) pieces_ = dashboard::PiecesOf(*contents_);
  const auto changes = dashboard::ChangesOf(pieces_, pieces);
  pieces_ = std::move(pieces);
  if (!changes) return updates_.AddReload();
  if (!changes->empty()) updates_.Add(*changes);
}

net::HttpHandler ClusterPage::Handler(dashboard::Hosts hosts) {
  return [contents = contents_, version = updates_.Version(), hosts, this](const net::IncomingRequest& request) {
    return dashboard::AnswerFrom(*contents, version, updates_, hosts, request);
  };
}

net::HttpHandler ClusterPage::GuardedHandler() {
  return [guard = guard_.get(), page = Handler(dashboard::Hosts::kAny)](const net::IncomingRequest& request) {
    return guard->Answer(request, page);
  };
}

}  // namespace pintle::controller
