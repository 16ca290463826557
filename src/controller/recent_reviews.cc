// SPDX-License-Identifier: Apache-2.0
#include "controller/recent_reviews.h"

#include <algorithm>

#include "base/digest.h"

namespace pintle::controller {

std::string KeyOfToken(const std::string& token) { return Sha256(token).hex(); }

void RecentReviews::Remember(const std::string& key, kube::ReviewResult result, MonotonicTime now) {
  permitted_.erase(key);
  refused_.erase(key);
  const bool is_permitted = result == kube::ReviewResult::kPermitted;
  Entries& entries = is_permitted ? permitted_ : refused_;
  MakeRoom(entries, is_permitted ? kMostPermitted : kMostRefused);
  entries.emplace(key, Entry{result, now + (is_permitted ? kPermittedFor : kRefusedFor)});
}

std::optional<kube::ReviewResult> RecentReviews::Find(const std::string& key, MonotonicTime now) const {
  for (const Entries* entries : {&permitted_, &refused_}) {
    const auto found = entries->find(key);
    if (found != entries->end() && now < found->second.until) return found->second.result;
  }
  return std::nullopt;
}

MonotonicTime::duration RecentReviews::PermittedFor(const std::string& key, MonotonicTime now) const {
  const auto found = permitted_.find(key);
  return found == permitted_.end() ? MonotonicTime::duration::zero()
                                   : std::max(found->second.until - now, MonotonicTime::duration::zero());
}

// Drops the entry that ends first, if there is no room for another one.
void RecentReviews::MakeRoom(Entries& entries, std::size_t most) {
  if (entries.size() < most) return;
  entries.erase(std::min_element(entries.begin(), entries.end(),
                                 [](const auto& a, const auto& b) { return a.second.until < b.second.until; }));
}

}  // namespace pintle::controller
