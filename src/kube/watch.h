// SPDX-License-Identifier: Apache-2.0
#pragma once

// One watch: what happens to the objects of a kind, from a resourceVersion on, until the server ends it.

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "kube/list.h"
#include "kube/watch_decoder.h"

namespace pintle::kube {

struct WatchTimes {
  // The server is asked to end it after this, and up to twice as long, so that watches move to servers that are new.
  std::chrono::seconds whole = std::chrono::minutes(5);
  // The server sends bookmarks about once a minute.  One that is silent for longer may have gone without a word; to
  // begin again from the last bookmark costs little.
  std::chrono::milliseconds silence = std::chrono::minutes(3);
};

struct WatchReceiver {
  std::function<void(WatchEvent event)> event;
  // Nothing: the server ended it in order.  See Failure::IsExpired().
  std::function<void(std::optional<Failure> failure)> end;
};

// Objects are named as in a Selection, of which the size of pages does not count.
Call Watch(std::shared_ptr<Transport> transport, const ResourceKind& kind, const Selection& selection,
           const std::string& resource_version, const WatchTimes& times, const Random& random, WatchReceiver receiver);

}  // namespace pintle::kube
