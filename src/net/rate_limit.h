// SPDX-License-Identifier: Apache-2.0
#pragma once

// How often someone may ask: so many times at once, and then so many times a second.

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace pintle::net {

// Who counts as one: an address of IPv4, or a network of IPv6 ("2001:db8::/64"), in which a machine may give itself as
// many addresses as it likes.  `address` is one in text.
std::string AskerAt(const std::string& address);

struct Rate {
  double per_second = 0;  // 0: without a limit.
  double burst = 0;
};

class RateLimit {
 public:
  // Of more than `most_known` who asked lately, those are forgotten who have waited long enough, or else all.
  explicit RateLimit(Rate rate, std::size_t most_known = 65'536) : rate_(rate), most_known_(most_known) {}

  // Whether `who` may have what it asks for at this moment.
  bool Allow(std::string_view who, MonotonicTime now);

 private:
  struct Debt {
    double asked = 0;  // Less what has been made up for since.
    MonotonicTime at;
  };

  double Left(const Debt& debt, MonotonicTime now) const;
  void Forget(MonotonicTime now);

  const Rate rate_;
  const std::size_t most_known_;
  std::map<std::string, Debt, std::less<>> debts_;
};

}  // namespace pintle::net
