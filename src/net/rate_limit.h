// SPDX-License-Identifier: Apache-2.0
#pragma once

// Limits the requests of each client: a burst, and then a number per second.

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace pintle::net {

// Returns the key under which a client is counted: its IPv4 address, or its IPv6 network ("2001:db8::/64"), because a
// machine can use any number of addresses of its network.
std::string ClientKeyOf(const std::string& address);

struct Rate {
  double per_second = 0;  // 0 means no limit.
  double burst = 0;       // The number of requests that may come at once.
};

class RateLimit {
 public:
  // If there are more than `most_known` clients, those that may send a whole burst again are forgotten; if there are no
  // such clients, all clients are forgotten.
  explicit RateLimit(Rate rate, std::size_t most_known = 65'536) : rate_(rate), most_known_(most_known) {}

  // Returns whether the client may send a request now, and counts the request if so.
  bool Allow(std::string_view client, MonotonicTime now);

 private:
  struct Debt {
    double requests = 0;  // The number of recent requests at the time `at`; it decreases by `per_second` each second.
    MonotonicTime at;
  };

  double RemainingDebt(const Debt& debt, MonotonicTime now) const;
  void Forget(MonotonicTime now);

  const Rate rate_;
  const std::size_t most_known_;
  std::map<std::string, Debt, std::less<>> debts_;
};

}  // namespace pintle::net
