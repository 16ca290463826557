// SPDX-License-Identifier: Apache-2.0
#pragma once

// The part of Mirror that is the same for all kinds of objects.

#include <functional>
#include <map>
#include <memory>

#include "base/result.h"
#include "kube/any_object.h"
#include "kube/call.h"
#include "kube/client.h"
#include "kube/feed.h"
#include "kube/resource_kind.h"

namespace pintle::kube {

class AnyMirror {
 public:
  // Each of these callbacks may destroy the mirror.
  struct Listener {
    std::function<void(const AnyObject& object)> added;
    std::function<void(const AnyObject& before, const AnyObject& now)> changed;
    std::function<void(const AnyObject& last_known)> removed;
    std::function<void()> synced;
    // Called when an object of the list or of the watch cannot be read.  The error contains the object's name.
    std::function<void(const ObjectName& name, const Error& why)> unreadable;
    // Called when the objects cannot be listed or watched.
    std::function<void(const Error& error)> trouble;
  };

  // An object whose present state cannot be read as a whole.
  struct Unreadable {
    std::unique_ptr<AnyObject> readable_part;
    Error why;
  };

  using UnreadableObjects = std::map<ObjectName, Unreadable>;

  // `kind` must outlive the mirror.
  AnyMirror(Client& client, const ResourceKind& kind, ObjectMaker make, Selection selection, Listener listener,
            FeedSettings settings);

  bool is_synced() const;
  // An object stays at its address until it changes.
  const AnyObjects& objects() const;
  // Returns nullptr if there is no such object.
  const AnyObject* Find(const ObjectName& name) const;
  const UnreadableObjects& unreadable() const;

 private:
  class State;

  std::shared_ptr<State> state_;
  Call call_;
};

}  // namespace pintle::kube
