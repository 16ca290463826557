// SPDX-License-Identifier: Apache-2.0
#include "controller/cluster_page.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <chrono>
#include <optional>
#include <random>
#include <utility>

#include "controller/rosters.h"
#include "dashboard/answers.h"
#include "pool/rollout_policy.h"

namespace pintle::controller {
namespace {

constexpr auto kBetweenRenewals = std::chrono::seconds(1);
constexpr auto kRenewedAnyway = std::chrono::hours(1);
constexpr std::size_t kMostConnections = 64;
// Proxies on the way, such as that of `kubectl port-forward`, may end a connection that is silent, too.
constexpr auto kBetweenComments = std::chrono::seconds(20);
static_assert(kBetweenComments * 3 < net::HttpServerLimits().stream_idle_time,
              "the server would end the stream of a page on which nothing changes");

std::string RandomIdentity() {
  std::random_device random;
  return fmt::format("{:08x}", random());
}

dashboard::ClusterState StateOf(const View& view) {
  const Rosters rosters = MakeRosters(view);
  std::vector<dashboard::PoolAndNodes> pools;
  for (const api::MachineConfigPool* pool : view.pools) {
    pools.push_back({pool, rosters.Of(pool->metadata.name), pool::ChoosePolicy(*pool, view.rollout_policies).policy});
  }
  return dashboard::StateOf(pools, view.machine_config_nodes, view.controller_config);
}

}  // namespace

Result<std::unique_ptr<ClusterPage>> ClusterPage::Begin(event::Loop& loop, const Clock& clock, const Cluster& cluster,
                                                        const net::ListenAddress& address) {
  if (!net::IsLoopback(address)) {
    return Error(ErrorKind::kInvalid,
                 fmt::format("the page has no login, so it is served at a loopback address only, such as "
                             "127.0.0.1:8798, and not at {}; `kubectl port-forward` reaches it there",
                             net::ToText(address)));
  }
  std::unique_ptr<ClusterPage> page(new ClusterPage(loop, clock, cluster));
  const net::HttpServerLimits limits = {.connections = kMostConnections};
  page->server_ = TRY(net::HttpServer::Begin({.listen = address, .limits = limits}, page->Handler()));
  return page;
}

ClusterPage::ClusterPage(event::Loop& loop, const Clock& clock, const Cluster& cluster)
    : clock_(clock),
      cluster_(cluster),
      soon_(loop, [this] { Renew(); }),
      later_(loop, [this] { Renew(); }),
      alive_(loop, [this] { KeepStreamsAlive(); }),
      updates_(RandomIdentity()),
      contents_(std::make_shared<const dashboard::Contents>(
          dashboard::Contents{.cluster = {}, .timeline = {}, .unread = "the cluster", .now = clock.Wall()})) {
  alive_.After(kBetweenComments);
  Changed();
}

void ClusterPage::KeepStreamsAlive() {
  alive_.After(kBetweenComments);
  updates_.KeepAlive();
}

void ClusterPage::Changed() {
  if (!soon_.armed()) soon_.After(kBetweenRenewals);
}

void ClusterPage::Renew() {
  later_.After(kRenewedAnyway);
  dashboard::Contents next = {.cluster = {},
                              .timeline = contents_->timeline,
                              .unread = fmt::format("{}", fmt::join(cluster_.UnreadKinds(), ", ")),
                              .now = clock_.Wall()};
  if (next.unread.empty()) next.cluster = StateOf(cluster_.Look());
  // The first whole copy of the cluster is not a change of the cluster.
  if (next.unread.empty() && contents_->unread.empty()) {
    dashboard::AddTo(next.timeline, next.now, dashboard::DifferencesOf(contents_->cluster, next.cluster));
  }
  // Nothing reports that another kind has been read, so Renew() polls until all kinds have been read.
  if (!next.unread.empty()) Changed();
  AddChanges(next);
  contents_ = std::make_shared<const dashboard::Contents>(std::move(next));
  server_->SetHandler(Handler());
}

void ClusterPage::AddChanges(const dashboard::Contents& next) {
  if (!updates_.HasFollowers()) {
    pieces_ = {};
    // A browser may have loaded the old page and be about to follow it.  It then loads the page again.
    return updates_.AddOtherPage();
  }
  std::vector<dashboard::Piece> pieces = dashboard::PiecesOf(next);
  if (pieces_.empty()) pieces_ = dashboard::PiecesOf(*contents_);
  const auto changes = dashboard::ChangesOf(pieces_, pieces);
  pieces_ = std::move(pieces);
  if (!changes) return updates_.AddOtherPage();
  if (!changes->empty()) updates_.Add(*changes);
}

net::HttpHandler ClusterPage::Handler() {
  return [contents = contents_, version = updates_.Version(), this](const net::IncomingRequest& request) {
    return dashboard::AnswerFrom(*contents, version, updates_, request);
  };
}

}  // namespace pintle::controller
