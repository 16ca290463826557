// SPDX-License-Identifier: Apache-2.0
#pragma once

// Sends the changed pieces of the page to the browsers that follow it, as server-sent events.
//
// A browser names the version that it shows, and gets all changes since this version.  If these changes are no longer
// kept, or the page now has other pieces, the browser gets an event that makes it load the page again.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "dashboard/document.h"
#include "net/http_answer.h"

namespace pintle::dashboard {

// Its functions may be called from any thread.
class Updates {
 public:
  // The identity differs between replicas and between their starts, so that no browser gets the changes of another
  // replica.  It consists of letters and digits.
  explicit Updates(std::string identity) : identity_(std::move(identity)) {}
  Updates(const Updates&) = delete;
  Updates& operator=(const Updates&) = delete;

  // Returns the name of the present version, such as "a81f-12".
  std::string Version() const;
  // Records that a browser loads the page, and is going to follow it.
  void ExpectFollower();
  // Returns whether any browser follows the page, or is about to.
  bool HasFollowers() const;

  // Makes the next version, with these changed pieces.
  void Add(const std::vector<Piece>& changes);
  // Makes the next version, for which all browsers have to load the page again.
  void AddReload();
  // Sends a comment to all browsers that wait for a change, so that no server or proxy in between ends a stream that is
  // silent for long.
  void KeepAlive();

  // Returns the stream for a browser that shows this version.  The stream must not outlive the updates.
  std::shared_ptr<net::HttpStream> StreamFrom(std::string_view version);

 private:
  class Stream;

  void AddEvent(std::string text);
  // Removes and returns the functions that wake the waiting streams.  Functions whose names end in Locked are called
  // while the mutex is held.
  std::vector<std::function<void()>> TakeWakesLocked();
  // Returns the next event of a stream.  If there is none yet, returns nullptr and keeps `wake` until there is one.
  std::shared_ptr<const std::string> NextFor(Stream& stream, std::function<void()> wake);

  bool HasFollowersLocked() const { return !wakes_.empty() || expected_for_ > 0; }

  const std::string identity_;
  mutable std::mutex mutex_;  // Guards the members below.
  std::uint64_t latest_ = 0;
  std::uint64_t comments_ = 0;  // The number of comments so far.
  int expected_for_ = 0;        // The number of coming versions for which a browser may still be loading the page.
  std::deque<std::shared_ptr<const std::string>> events_;  // The newest comes last and leads to latest_.
  std::size_t kept_bytes_ = 0;                             // The size of all events_.
  std::map<const Stream*, std::function<void()>> wakes_;   // For each stream; null if the stream does not wait.
};

}  // namespace pintle::dashboard
