// SPDX-License-Identifier: Apache-2.0
#pragma once

// Asks the kubelet from time to time whether it is healthy, for a metric that an alert uses.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "event/watches.h"
#include "net/http_client.h"
#include "net/url.h"

namespace pintle::agent {

class KubeletWatch {
 public:
  // `changed` is called with the number of failures in a row whenever that number changes.
  static Result<std::unique_ptr<KubeletWatch>> Begin(event::Loop& loop, const std::string& url,
                                                     std::function<void(std::uint64_t failures)> changed);
  KubeletWatch(const KubeletWatch&) = delete;
  KubeletWatch& operator=(const KubeletWatch&) = delete;

 private:
  KubeletWatch(event::Loop& loop, net::HttpClient client, net::Url url,
               std::function<void(std::uint64_t failures)> changed);

  void Ask();
  void OnAnswer(bool is_healthy);

  net::HttpClient client_;
  net::Url url_;
  std::function<void(std::uint64_t failures)> changed_;
  std::uint64_t failures_ = 0;
  event::Timer again_;
  net::HttpCall call_;
};

}  // namespace pintle::agent
