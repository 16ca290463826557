// SPDX-License-Identifier: Apache-2.0
#pragma once

// The results of recent reviews of tokens, so that the API server is not asked about each request.
//
// A token itself is not kept: the key is its SHA-256.  Refused tokens are stored apart from permitted ones, so that
// somebody who sends many wrong tokens does not displace the good ones.

#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include "base/clock.h"
#include "kube/visitor_review.h"

namespace pintle::controller {

// Returns the key under which the review of a token is stored.
std::string KeyOfToken(const std::string& token);

class RecentReviews {
 public:
  // A review counts for this long, depending on its result.
  static constexpr auto kPermittedFor = std::chrono::seconds(60);
  static constexpr auto kRefusedFor = std::chrono::seconds(10);
  // The largest numbers of tokens that are remembered.
  static constexpr std::size_t kMostPermitted = 512;
  static constexpr std::size_t kMostRefused = 512;

  // Stores the result of a review that has just ended.
  void Remember(const std::string& key, kube::ReviewResult result, MonotonicTime now);
  // Returns nullopt if the token has not been reviewed recently enough.
  std::optional<kube::ReviewResult> Find(const std::string& key, MonotonicTime now) const;
  // Returns how much longer the token counts as permitted without another review; zero if it is not permitted now.
  MonotonicTime::duration PermittedFor(const std::string& key, MonotonicTime now) const;
  std::size_t size() const { return permitted_.size() + refused_.size(); }

 private:
  struct Entry {
    kube::ReviewResult result;
    MonotonicTime until;
  };
  using Entries = std::map<std::string, Entry>;

  static void MakeRoom(Entries& entries, std::size_t most);

  Entries permitted_;
  Entries refused_;
};

}  // namespace pintle::controller
