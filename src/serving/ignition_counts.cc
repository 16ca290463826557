// SPDX-License-Identifier: Apache-2.0
#include "serving/ignition_counts.h"

#include <algorithm>

namespace pintle::serving {

using ignition::SpecVersion;

IgnitionCounters::IgnitionCounters(const ServedPools& pools, const IgnitionCounters* before) {
  const auto add = [&](const std::string& name) {
    const bool is_known = before != nullptr && before->pools_.contains(name);
    pools_.emplace(name, is_known ? before->pools_.at(name) : std::make_shared<PoolCounters>());
  };
  add("");
  for (const auto& [name, pool] : pools) add(name);
  if (before == nullptr) return;
  for (const auto& [name, counters] : before->pools_) {
    if (!pools_.contains(name)) pools_.at("")->served_without_token += counters->served_without_token;
  }
}

void IgnitionCounters::Count(const IgnitionAnswer& answer) const {
  if (!answer.pool) return;
  const auto found = pools_.find(*answer.pool);
  PoolCounters& pool = *(found == pools_.end() ? pools_.begin() : found)->second;  // "" is the first.
  const auto status = std::find(kStatuses.begin(), kStatuses.end(), answer.http.status);
  const std::size_t version = answer.version ? static_cast<std::size_t>(*answer.version) : kServedVersions;
  if (status != kStatuses.end()) ++pool.requests[version][static_cast<std::size_t>(status - kStatuses.begin())];
  if (answer.http.status == 200 && answer.token != TokenProblem::kNone) ++pool.served_without_token;
}

IgnitionCounts IgnitionCounters::Read() const {
  IgnitionCounts counts;
  for (const auto& [name, pool] : pools_) {
    for (std::size_t version = 0; version <= kServedVersions; ++version) {
      const std::string_view text =
          version == kServedVersions ? std::string_view() : ignition::ToText(static_cast<SpecVersion>(version));
      for (std::size_t status = 0; status < kStatuses.size(); ++status) {
        const std::uint64_t count = pool->requests[version][status];
        if (count > 0) counts.requests.push_back({name, text, kStatuses[status], count});
      }
    }
    if (const std::uint64_t count = pool->served_without_token; count > 0) counts.served_without_token[name] = count;
  }
  return counts;
}

}  // namespace pintle::serving
