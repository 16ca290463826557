// SPDX-License-Identifier: Apache-2.0
#pragma once

// How often which config was asked for, and with which outcome.
//
// The server's threads count while others read.  A pool is counted by its name only while there is one: names that
// someone makes up are counted together, as "".

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "controller/ignition_answer.h"
#include "controller/served_pool.h"

namespace pintle::controller {

struct RequestCount {
  std::string pool;
  std::string_view version;  // "3.4.0"; empty where it did not come to one.
  int status;
  std::uint64_t count;
  bool operator==(const RequestCount&) const = default;
};

struct IgnitionCounts {
  std::vector<RequestCount> requests;              // Those that there were, in the order of the pools' names.
  std::map<std::string, std::uint64_t> open_hits;  // Configs served, by pool, to who had no good token.
};

class IgnitionCounters {
 public:
  // The pools that there are now.  What was counted before is kept.
  IgnitionCounters(const ServedPools& pools, const IgnitionCounters* before);

  void Count(const IgnitionAnswer& answer) const;
  IgnitionCounts Read() const;

 private:
  static constexpr std::array kStatuses = {200, 400, 401, 403, 500, 503};
  struct OfPool {
    std::array<std::array<std::atomic<std::uint64_t>, kStatuses.size()>, kServedVersions + 1> requests = {};
    std::atomic<std::uint64_t> open_hits = 0;
  };

  std::map<std::string, std::shared_ptr<OfPool>, std::less<>> pools_;
};

}  // namespace pintle::controller
