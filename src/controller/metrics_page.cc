// SPDX-License-Identifier: Apache-2.0
#include "controller/metrics_page.h"

#include <chrono>
#include <string_view>
#include <utility>

namespace pintle::controller {
namespace {

constexpr auto kBetweenTexts = std::chrono::seconds(1);
constexpr const char* kTextFormat = "text/plain; version=0.0.4; charset=utf-8";

net::HttpHandler HandlerFor(std::shared_ptr<const std::string> text) {
  return [text = std::move(text)](const net::IncomingRequest& request) -> net::HttpAnswer {
    if (request.method != "GET" && request.method != "HEAD") return {.status = 405};
    const std::string_view path = request.target.substr(0, request.target.find('?'));
    if (path == "/healthz") return {.status = 200};
    if (path != "/metrics") return {.status = 404};
    return {.status = 200, .headers = {{"Content-Type", kTextFormat}}, .body = text};
  };
}

}  // namespace

Result<std::unique_ptr<MetricsPage>> MetricsPage::Begin(event::Loop& loop, const net::ListenAddress& address,
                                                        std::function<std::string()> text) {
  std::unique_ptr<MetricsPage> page(new MetricsPage(loop, std::move(text)));
  page->server_ =
      TRY(net::HttpServer::Begin({.listen = address}, HandlerFor(std::make_shared<const std::string>(page->text_()))));
  return page;
}

MetricsPage::MetricsPage(event::Loop& loop, std::function<std::string()> text)
    : text_(std::move(text)), soon_(loop, [this] { Renew(); }) {}

void MetricsPage::Changed() {
  if (!soon_.armed()) soon_.After(kBetweenTexts);
}

void MetricsPage::Renew() { server_->Handle(HandlerFor(std::make_shared<const std::string>(text_()))); }

}  // namespace pintle::controller
