// SPDX-License-Identifier: Apache-2.0
#pragma once

// Counts requests for configs by pool, version and status.
//
// The server's threads count while other threads read.  Only pools that exist are counted by name; all other names,
// which a client can make up, are counted together as "".

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "serving/ignition_answer.h"
#include "serving/served_pool.h"

namespace pintle::serving {

struct RequestCount {
  std::string pool;
  std::string_view version;  // Such as "3.4.0"; empty if none was negotiated.
  int status;
  std::uint64_t count;
  bool operator==(const RequestCount&) const = default;
};

struct IgnitionCounts {
  std::vector<RequestCount> requests;  // Only counts above zero, in the order of the pools' names.
  // By pool: the configs that were served to requests without a valid token, as AccessMode::kGrace permits.
  std::map<std::string, std::uint64_t> served_without_token;
};

class IgnitionCounters {
 public:
  // `pools` are the pools that exist now.  `before` may be null; otherwise, the counts of these pools are kept, and the
  // configs that other pools have served without a token are counted as those of "", so that their sum never decreases.
  IgnitionCounters(const ServedPools& pools, const IgnitionCounters* before);

  // Counts an answer to a request for a config; other answers are not counted.
  void Count(const IgnitionAnswer& answer) const;
  IgnitionCounts Read() const;

 private:
  // The HTTP statuses that are counted.
  static constexpr std::array kStatuses = {200, 400, 401, 403, 404, 500, 503};
  struct PoolCounters {
    // By version and status.  The last version stands for requests for which no version was negotiated.
    std::array<std::array<std::atomic<std::uint64_t>, kStatuses.size()>, kServedVersions + 1> requests = {};
    std::atomic<std::uint64_t> served_without_token = 0;
  };

  std::map<std::string, std::shared_ptr<PoolCounters>, std::less<>> pools_;
};

}  // namespace pintle::serving
