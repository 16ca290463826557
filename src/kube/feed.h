// SPDX-License-Identifier: Apache-2.0
#pragma once

// Lists objects and then watches them without end; Mirror is built on this.
//
// When a watch ends, the next one continues from its last version.  The objects are listed again if the server no
// longer has that version, if it refuses the watch, if it sent an older version or something that we do not understand,
// or if two watches in a row were silent.  A server that is down, restarts or has moved is tried again and again, with
// growing intervals.

#include <functional>
#include <memory>
#include <optional>

#include "kube/watch.h"

namespace pintle::kube {

struct FeedSettings {
  Patience page = {.attempts = 3};  // For the pages after the first.  If these attempts fail, the list starts over.
  Backoff::Settings backoff = {};
  Backoff::Settings missing_backoff = {};  // In place of `backoff` while the server does not have the kind.
  WatchTimes watch = {};
  Random random = SystemRandom();
};

struct FeedReceiver {
  // `listed` gets all objects between `list_begins` and `list_ends`.  Before `list_ends`, the list may start over with
  // another `list_begins`.
  std::function<void()> list_begins;
  // `why` is set if a part of the object could not be read.
  std::function<void(json::Value object, const std::optional<Error>& why)> listed;
  std::function<void()> list_ends;
  std::function<void(WatchEvent event)> event;  // Never called for a bookmark.
  // Gets the reason for an interruption.  The next attempt always follows without further help.
  std::function<void(const Error& error)> trouble;
};

// Continues for as long as the call exists.
Call Follow(std::shared_ptr<Transport> transport, const ResourceKind& kind, Selection selection, FeedSettings settings,
            FeedReceiver receiver);

}  // namespace pintle::kube
