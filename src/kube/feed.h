// SPDX-License-Identifier: Apache-2.0
#pragma once

// A list, and then a watch for ever: what Mirror is made of.
//
// A watch that ends goes on from where it was.  Where that is not possible, since the server no longer knows that far
// back or since we did not understand what it sent, a new list takes its place.  A server that is down, starts again or
// has moved is asked again and again, less and less often, each time with a new connection and a new look-up of its
// name.

#include <functional>
#include <memory>

#include "kube/watch.h"

namespace pintle::kube {

struct FeedSettings {
  Patience page = {.attempts = 3};  // For each page of a list but the first, before the list begins anew.
  Backoff::Settings backoff = {};
  WatchTimes watch = {};
  Random random = SystemRandom();
};

struct FeedReceiver {
  // Between these two come all objects that there are, by `listed`; until the end of a list it may begin anew.
  std::function<void()> list_begins;
  std::function<void(json::Value object)> listed;
  std::function<void()> list_ends;
  std::function<void(WatchEvent event)> event;  // Never a bookmark.
  // Why nothing comes for now.  Whatever it is, the next attempt follows of itself.
  std::function<void(const Error& error)> trouble;
};

// Goes on for as long as the call exists.
Call Follow(std::shared_ptr<Transport> transport, const ResourceKind& kind, Selection selection, FeedSettings settings,
            FeedReceiver receiver);

}  // namespace pintle::kube
