// SPDX-License-Identifier: Apache-2.0
#pragma once

// Limits the requests of each client: a burst, and then a number per second.

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace pintle::net {

// Returns the name under which a client is counted: an IPv4 address, or an IPv6 network ("2001:db8::/64"), in which a
// machine may take as many addresses as it likes.  `address` is an address as text.
std::string AskerAt(const std::string& address);

struct Rate {
  double per_second = 0;  // 0 means no limit.
  double burst = 0;
};

class RateLimit {
 public:
  // If there are more than `most_known` clients, those that may send a whole burst again are forgotten; if there is
  // none of these, all clients are forgotten.
  explicit RateLimit(Rate rate, std::size_t most_known = 65'536) : rate_(rate), most_known_(most_known) {}

  // Returns whether `who` may ask now, and counts it.
  bool Allow(std::string_view who, MonotonicTime now);

 private:
  struct Debt {
    double asked = 0;  // The requests so far, less those that are made up for by the time since.
    MonotonicTime at;
  };

  double Left(const Debt& debt, MonotonicTime now) const;
  void Forget(MonotonicTime now);

  const Rate rate_;
  const std::size_t most_known_;
  std::map<std::string, Debt, std::less<>> debts_;
};

}  // namespace pintle::net
