// SPDX-License-Identifier: Apache-2.0
#include "controller/metrics_page.h"

#include <fmt/core.h>

#include <string_view>
#include <utility>

#include "base/clock.h"

namespace pintle::controller {
namespace {

constexpr auto kBetweenPages = std::chrono::seconds(1);
constexpr auto kBetweenBeats = std::chrono::seconds(5);  // The loop records at this interval that it runs.
// A loop that has not run for this long hangs.  With the probes in deploy/, a replica that hangs is restarted before
// another replica may take its lease.
constexpr auto kHangsAfter = std::chrono::seconds(60);
// Every pod of the cluster may be able to connect, and a few clients must not keep Prometheus out.  A client with an
// IPv4 and an IPv6 address counts as two clients.
constexpr net::HttpServerLimits kLimits = {
    .connections = 1'024, .connections_per_address = 16, .rate = {.per_second = 50, .burst = 500}};
static_assert(kLimits.connections_per_address * 2 < kLimits.connections);
constexpr std::string_view kMetricsPath = "/metrics";
constexpr const char* kMetricsFormat = "text/plain; version=0.0.4; charset=utf-8";
constexpr const char* kPlainText = "text/plain; charset=utf-8";

net::HttpAnswer Unavailable(std::string why) {
  return {.status = 503,
          .headers = {{"Content-Type", kPlainText}},
          .body = std::make_shared<const std::string>(std::move(why) + "\n")};
}

}  // namespace

net::HttpAnswer AnswerFrom(const MetricsPageContents& page, std::chrono::nanoseconds silence,
                           const net::IncomingRequest& request) {
  if (request.method != "GET" && request.method != "HEAD") return {.status = 405};
  const std::string_view path = request.target.substr(0, request.target.find('?'));
  if (path != kMetricsPath && path != "/healthz" && path != "/readyz") return {.status = 404};
  if (silence >= kHangsAfter) {
    return Unavailable(
        fmt::format("the main loop has not run for {} s", std::chrono::floor<std::chrono::seconds>(silence).count()));
  }
  if (path == "/healthz") return {.status = 200};
  if (path == kMetricsPath) return {.status = 200, .headers = {{"Content-Type", kMetricsFormat}}, .body = page.metrics};
  if (!page.unread_kinds.empty()) return Unavailable("not read from the API server yet: " + page.unread_kinds);
  if (!page.why_not_ready.empty()) return Unavailable(page.why_not_ready);
  return {.status = 200};
}

Result<std::unique_ptr<MetricsPage>> MetricsPage::Begin(event::Loop& loop, const MetricsAddresses& addresses,
                                                        std::function<MetricsPageContents()> make) {
  std::unique_ptr<MetricsPage> page(new MetricsPage(loop, std::move(make)));
  const auto first = page->MakePage();
  const auto begin = [&](const net::ListenAddress& address, Paths paths) {
    return net::HttpServer::Begin({.listen = address, .limits = kLimits}, page->HandlerFor(first, paths));
  };
  if (addresses.all) page->all_ = TRY(begin(*addresses.all, Paths::kAll));
  if (addresses.probes) page->probes_ = TRY(begin(*addresses.probes, Paths::kProbes));
  return page;
}

MetricsPage::MetricsPage(event::Loop& loop, std::function<MetricsPageContents()> make)
    : make_(std::move(make)), heartbeat_(loop, kBetweenBeats), soon_(loop, [this] { Renew(); }) {}

void MetricsPage::RenewSoon() {
  if (!soon_.armed()) soon_.After(kBetweenPages);
}

MetricsAddresses MetricsPage::addresses() const {
  MetricsAddresses addresses;
  if (all_) addresses.all = all_->address();
  if (probes_) addresses.probes = probes_->address();
  return addresses;
}

std::shared_ptr<const MetricsPageContents> MetricsPage::MakePage() {
  auto page = std::make_shared<const MetricsPageContents>(make_());
  // While the replica is not ready, nothing reports that another kind has been read, or that the Ignition server has
  // what it needs.  So the page is renewed again and again until the replica is ready.
  if (!page->unread_kinds.empty() || !page->why_not_ready.empty()) RenewSoon();
  return page;
}

net::HttpHandler MetricsPage::HandlerFor(std::shared_ptr<const MetricsPageContents> page, Paths paths) {
  return [page = std::move(page), paths, &heartbeat = heartbeat_](const net::IncomingRequest& request) {
    if (paths == Paths::kProbes && request.target.starts_with(kMetricsPath)) return net::HttpAnswer{.status = 404};
    return AnswerFrom(*page, SystemClock().Monotonic() - heartbeat.last(), request);
  };
}

void MetricsPage::Renew() {
  const auto page = MakePage();
  if (all_) all_->SetHandler(HandlerFor(page, Paths::kAll));
  if (probes_) probes_->SetHandler(HandlerFor(page, Paths::kProbes));
}

}  // namespace pintle::controller
