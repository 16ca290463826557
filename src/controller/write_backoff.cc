// SPDX-License-Identifier: Apache-2.0
#include "controller/write_backoff.h"

#include <algorithm>

namespace pintle::controller {
namespace {

// Together with the jitter, the longest interval is five minutes.
constexpr kube::Backoff::Settings kRetryBackoff = {
    .first = std::chrono::seconds(1), .longest = std::chrono::minutes(4), .jitter = 0.25};
// The failures of a write are forgotten this long after the write was due: a write that was not repeated by then has
// been given up, or is no longer needed.
constexpr auto kForgotten = std::chrono::minutes(10);
// After more conflicts than this since the last success, the write is delayed.
constexpr int kConflictsWithoutDelay = 2;
// More conflicts than this since the last success count as a failure.
constexpr int kConflictsBeforeFailure = 4;

}  // namespace

bool WriteBackoff::IsDue(const Key& key, MonotonicTime now) const { return !DueAt(key, now); }

std::optional<MonotonicTime> WriteBackoff::DueAt(const Key& key, MonotonicTime now) const {
  const auto found = failures_.find(key);
  if (found == failures_.end() || found->second.due <= now) return std::nullopt;
  return found->second.due;
}

int WriteBackoff::Failed(const Key& key, MonotonicTime now, std::chrono::milliseconds no_sooner) {
  Failures& failures = FailuresOf(key, now);
  failures.due = now + std::max(failures.backoff.Next(), no_sooner);
  return ++failures.count;
}

bool WriteBackoff::CountConflict(const Key& key, MonotonicTime now) {
  Failures& failures = FailuresOf(key, now);
  if (++failures.conflicts > kConflictsWithoutDelay) {
    failures.due = now + failures.backoff.Next();
    failures.must_read = true;
  }
  return failures.conflicts > kConflictsBeforeFailure;
}

bool WriteBackoff::MustReadFirst(const Key& key) {
  const auto found = failures_.find(key);
  return found != failures_.end() && std::exchange(found->second.must_read, false);
}

WriteBackoff::Failures& WriteBackoff::FailuresOf(const Key& key, MonotonicTime now) {
  std::erase_if(failures_, [&](const auto& known) { return known.second.due + kForgotten < now; });
  return failures_.try_emplace(key, Failures{.backoff = kube::Backoff(kRetryBackoff, random_), .due = now})
      .first->second;
}

}  // namespace pintle::controller
