// SPDX-License-Identifier: Apache-2.0
#pragma once

// Limits how often someone may ask: a burst, and then a number of times a second.

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace pintle::net {

// Returns who counts as one asker: an IPv4 address, or an IPv6 network ("2001:db8::/64"), in which a machine may take
// as many addresses as it likes.  `address` is an address as text.
std::string AskerAt(const std::string& address);

struct Rate {
  double per_second = 0;  // 0 means no limit.
  double burst = 0;
};

class RateLimit {
 public:
  // If there are more than `most_known` askers, those that owe nothing are forgotten; if all owe something, all are
  // forgotten.
  explicit RateLimit(Rate rate, std::size_t most_known = 65'536) : rate_(rate), most_known_(most_known) {}

  // Returns whether `who` may ask now, and counts it.
  bool Allow(std::string_view who, MonotonicTime now);

 private:
  struct Debt {
    double asked = 0;  // Requests, less those that time has made up for.
    MonotonicTime at;
  };

  double Left(const Debt& debt, MonotonicTime now) const;
  void Forget(MonotonicTime now);

  const Rate rate_;
  const std::size_t most_known_;
  std::map<std::string, Debt, std::less<>> debts_;
};

}  // namespace pintle::net
