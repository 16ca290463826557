// SPDX-License-Identifier: Apache-2.0
#pragma once

// A watch of the objects of a kind, from a resourceVersion until the server ends it.

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "kube/list.h"
#include "kube/watch_decoder.h"

namespace pintle::kube {

struct WatchTimes {
  // The server is asked to end the watch after one to two times this duration, so that watches move to new servers.
  std::chrono::seconds duration = std::chrono::minutes(5);
  // The server sends bookmarks about once a minute.  If a watch is silent for longer, its connection may have died
  // unnoticed, and starting again from the last bookmark is cheap.
  std::chrono::milliseconds silence = std::chrono::minutes(3);
};

struct WatchReceiver {
  std::function<void(WatchEvent event)> event;
  // Gets nullopt if the server ended the watch in order.  See also Failure::IsExpired().
  std::function<void(std::optional<Failure> failure)> end;
};

// The selection's page size is not used.
Call Watch(std::shared_ptr<Transport> transport, const ResourceKind& kind, const Selection& selection,
           const std::string& resource_version, const WatchTimes& times, const Random& random, WatchReceiver receiver);

}  // namespace pintle::kube
