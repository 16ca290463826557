// SPDX-License-Identifier: Apache-2.0
#include "net/rate_limit.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iterator>

namespace pintle::net {

std::string ClientKeyOf(const std::string& address) {
  in6_addr network = {};
  if (::inet_pton(AF_INET6, address.substr(0, address.find('%')).c_str(), &network) != 1) return address;
  std::fill(std::begin(network.s6_addr) + 8, std::end(network.s6_addr), std::uint8_t{0});
  char text[INET6_ADDRSTRLEN] = {};
  ::inet_ntop(AF_INET6, &network, text, sizeof text);
  return std::string(text) + "/64";
}

bool RateLimit::Allow(std::string_view client, MonotonicTime now) {
  if (rate_.per_second <= 0) return true;
  auto found = debts_.find(client);
  if (found == debts_.end()) {
    if (debts_.size() >= most_known_) Forget(now);
    found = debts_.emplace(client, Debt{0, now}).first;
  }
  Debt& debt = found->second;
  debt = {RemainingDebt(debt, now), now};
  if (debt.requests + 1 > std::max(rate_.burst, 1.0)) return false;
  debt.requests += 1;
  return true;
}

double RateLimit::RemainingDebt(const Debt& debt, MonotonicTime now) const {
  const double seconds = std::chrono::duration<double>(now - debt.at).count();
  return std::max(0.0, debt.requests - seconds * rate_.per_second);
}

void RateLimit::Forget(MonotonicTime now) {
  std::erase_if(debts_, [&](const auto& entry) { return RemainingDebt(entry.second, now) == 0; });
  if (debts_.size() >= most_known_) debts_.clear();
}

}  // namespace pintle::net
