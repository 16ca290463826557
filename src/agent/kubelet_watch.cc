// SPDX-License-Identifier: Apache-2.0
#include "agent/kubelet_watch.h"

#include <chrono>
#include <utility>

#include "event/loop.h"

namespace pintle::agent {
namespace {

// The time between an answer of the kubelet and the next request.
constexpr auto kPeriod = std::chrono::seconds(30);
// The slack lets the request share a wake-up with other timers.
constexpr auto kSlack = std::chrono::seconds(5);
constexpr std::uint64_t kLongestAnswer = 64 << 10;  // In bytes.

}  // namespace

Result<std::unique_ptr<KubeletWatch>> KubeletWatch::Begin(event::Loop& loop, const std::string& url,
                                                          std::function<void(std::uint64_t failures)> changed) {
  auto parsed = TRY(net::Url::Parse(url));
  net::HttpClient::Settings settings;
  settings.proxy = {};  // The kubelet is on this machine.
  auto client = TRY(net::HttpClient::Create(loop, std::move(settings)));
  auto watch =
      std::unique_ptr<KubeletWatch>(new KubeletWatch(loop, std::move(client), std::move(parsed), std::move(changed)));
  watch->again_.After(kPeriod);
  return watch;
}

KubeletWatch::KubeletWatch(event::Loop& loop, net::HttpClient client, net::Url url,
                           std::function<void(std::uint64_t failures)> changed)
    : client_(std::move(client)),
      url_(std::move(url)),
      changed_(std::move(changed)),
      again_(
          loop, [this] { Ask(); }, kSlack) {}

void KubeletWatch::Ask() {
  net::HttpRequest request{.url = url_};
  request.body_limit = kLongestAnswer;
  call_ = client_.Fetch(std::move(request), [this](const Result<net::HttpResponse>& response) {
    OnAnswer(response && response->head.status == 200);
  });
}

void KubeletWatch::OnAnswer(bool is_healthy) {
  again_.After(kPeriod);
  const std::uint64_t failures = is_healthy ? 0 : failures_ + 1;
  if (std::exchange(failures_, failures) != failures) changed_(failures);
}

}  // namespace pintle::agent
